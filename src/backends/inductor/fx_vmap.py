"""torch.vmap as one call with a graph (fx_levels.py)."""

from typing import Any

import torch
from torch.fx import Node

from fx_levels import Expansion, Folded, NoLevel, function_of

ENTER, LEAVE = function_of("_vmap_increment_nesting"), function_of("_vmap_decrement_nesting")
ADD, REMOVE = function_of("_add_batch_dim"), function_of("_remove_batch_dim")
LOAD = function_of("lazy_load_decompositions")
Dims = tuple[int | None, ...]


def vmapped(body: Any, size: int, in_dims: Dims, out_dims: Dims, randomness: str, *arguments: torch.Tensor) -> Any:
    """Returns what torch.vmap gives. Raises ValueError where the arguments have another size than the graph says."""
    if any(dim is not None and given.size(dim) != size for dim, given in zip(in_dims, arguments, strict=True)):
        raise ValueError(f"vmap over {size} of arguments of another size")
    return torch.vmap(body, tuple(in_dims), tuple(out_dims), randomness=randomness)(*arguments)


def fold(level: Folded) -> None:
    """Raises NoLevel where the calls do not make one torch.vmap."""
    added, removed = level.of(ADD), level.of(REMOVE)
    if any(node.args[2] != level.number for node in added) or any(node.args[1] != level.number for node in removed):
        raise NoLevel
    for node in added:
        level.known[node] = level.argument(node.args[0])
    level.copy(node for node in level.nodes if node not in {*added, *removed})
    given = [node.args[0] for node in removed]
    for node in given:
        if node not in level.known:
            level.known[node] = level.taken(node)  # type: ignore
    size, randomness = level.enter.args
    in_dims = tuple(node.args[1] for node in added) + (None,) * (len(level.arguments) - len(added))
    out_dims = tuple(node.args[3] for node in removed)
    with level.graph.inserting_before(level.enter):
        how = (size, in_dims, out_dims, randomness)
        level.put(vmapped, (level.held(given), *how, *level.arguments), enumerate(removed))  # type: ignore[arg-type]
    level.erase([level.enter, *level.nodes, level.leave])


def expanded(node: Node, number: int) -> list[Node]:
    """The results of a call of vmapped(), of what Dynamo's graphs have in its place."""
    _, size, in_dims, out_dims, randomness, *arguments = node.args
    level = Expansion(node)
    level.call(LOAD)
    level.call(ENTER, size, randomness)
    results = level.run([given if dim is None else level.call(ADD, given, dim, number)
                         for dim, given in zip(in_dims, arguments)])  # type: ignore[arg-type]  # fmt: skip
    given = [level.call(REMOVE, result, number, size, dim)
             for result, dim in zip(results, out_dims)]  # type: ignore[arg-type]  # fmt: skip
    level.call(LEAVE)
    return given
