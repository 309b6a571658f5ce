"""flex_attention as people call it: with a score_mod and a BlockMask, in the place of the operator that Dynamo has."""

import operator
from collections.abc import Callable
from typing import Any

from torch.fx import Graph, Node
from torch.nn.attention.flex_attention import BlockMask, flex_attention

NO_BLOCKS = 1 << 30  # the size of the one block of a mask that masks nothing
USUAL = {"BACKEND": "AUTO", "PRESCALE_QK": False, "ROWS_GUARANTEED_SAFE": False, "BLOCKS_ARE_CONTIGUOUS": False,
         "WRITE_DQ": True, "OUTPUT_LOGSUMEXP": False, "OUTPUT_MAX": False}  # fmt: skip


def write_as_users(node: Node, capture: Callable[[Any, Any], None]) -> None:
    """Puts the function that people call in the place of the operator, where its output alone is read. `capture` has
    the last arguments of a graph stand for values around it."""
    given: tuple[Any, ...] = (*node.args, (), ())
    query, key, value, score, blocks, scale, options, of_score, of_mask = given[:9]
    if any(user.target is not operator.getitem or user.args[1] != 0 for user in node.users):
        return
    graph, said = node.graph, dict[str, Any]()
    with graph.inserting_before(node):
        if not gives_its_argument(score.meta["graph"]):  # type: ignore[union-attr]
            capture(score, of_score)
            said["score_mod"] = score
        if max(blocks[-3:-1]) < NO_BLOCKS:  # type: ignore
            capture(blocks[-1], of_mask)  # type: ignore[index]
            how = {"BLOCK_SIZE": tuple(blocks[-3:-1]), "mask_mod": blocks[-1]}  # type: ignore
            said["block_mask"] = call(node, BlockMask, (tuple(blocks[:2]), *blocks[2:10]), how)  # type: ignore
        said["scale"] = scale
        if heads(query) is None or heads(query) != heads(key):  # where they are equal it changes nothing
            said["enable_gqa"] = True
        own = {name: given for name, given in options.items() if USUAL.get(name, node) != given}  # type: ignore
        own.pop("OUTPUT_LOGSUMEXP", None)
        if own:
            said["kernel_options"] = own
        made = call(node, flex_attention, (query, key, value), said)
    for user in list(node.users):
        user.replace_all_uses_with(made)
        graph.erase_node(user)
    graph.erase_node(node)


def call(node: Node, function: Any, args: Any, kwargs: dict[str, Any]) -> Node:
    made = node.graph.call_function(function, args, kwargs)
    made.meta["modes"] = node.meta.get("modes", [])
    return made


def gives_its_argument(graph: Graph) -> bool:
    return graph.output_node().args[0] is graph.find_nodes(op="placeholder")[0]


def heads(value: Any) -> Any:
    """The number of heads of a query or key, if its sizes are known."""
    return value.meta["sizes"][-3] if "sizes" in value.meta else None
