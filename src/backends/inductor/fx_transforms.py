"""The levels of torch.func that have a form as calls, and where they become such calls and levels again."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch._functorch import eager_transforms, predispatch
from torch.autograd import forward_ad
from torch.fx import Graph, Node

import fx_func
import fx_vmap
from fx_levels import Folded, NoLevel

functorch = torch._C._functorch


class Kind(NamedTuple):
    enter: Any
    leave: Any
    fold: Callable[[Folded], None]


KINDS = (
    Kind(predispatch._vmap_increment_nesting, predispatch._vmap_decrement_nesting, fx_vmap.fold),
    Kind(functorch._grad_increment_nesting, functorch._grad_decrement_nesting, fx_func.fold_grad),
    Kind(predispatch._jvp_increment_nesting, predispatch._jvp_decrement_nesting, fx_func.fold_jvp),
)
ASIDE = (predispatch.lazy_load_decompositions, *fx_func.ASIDE)
CALLS = {
    fx_vmap.vmapped: fx_vmap.expanded,
    fx_func.differentiated: fx_func.expanded_grad,
    fx_func.pulled: fx_func.expanded_pulled,
    fx_func.pushed: fx_func.expanded_pushed,
}
"""The calls of programs, and what takes them apart."""
PLACES = {
    predispatch: ["lazy_load_decompositions", "_vmap_increment_nesting", "_vmap_decrement_nesting", "_add_batch_dim",
                  "_remove_batch_dim", "_jvp_increment_nesting", "_jvp_decrement_nesting", "_enter_dual_level",
                  "_exit_dual_level", "_make_dual", "_unpack_dual", "_unwrap_for_grad"],
    functorch: ["_grad_increment_nesting", "_grad_decrement_nesting", "_wrap_for_grad",
                "set_inplace_requires_grad_allowed"],
    eager_transforms: ["_autograd_grad", "_set_tensor_requires_grad"],
    forward_ad: ["_maybe_load_decompositions"],
    torch._C._autograd: ["_saved_tensors_hooks_disable", "_saved_tensors_hooks_enable"],
    torch._C: ["_set_fwd_grad_enabled"],
}  # fmt: skip
"""The functions of which Dynamo makes levels, by the module that has them."""


def fold(graph: Graph, module: torch.nn.Module) -> None:
    """Makes each level one call, the inner ones first. The graphs become attributes of the module. What makes no such
    call stays as it is."""
    enters = {kind.enter for kind in KINDS}
    if not any(node.target in enters for node in graph.nodes):
        return
    for node in reversed(list(graph.nodes)):
        if node.target in ASIDE and not node.users:
            graph.erase_node(node)
    entered: list[Node] = []
    for node in list(graph.nodes):
        if node.target in enters:
            entered.append(node)
        for kind in KINDS:
            if node.target is kind.leave and entered:
                enter = entered.pop()
                if enter.target is not kind.enter:
                    return
                try:
                    kind.fold(Folded(graph, module, enter, node, len(entered) + 1))
                except (NoLevel, ValueError, KeyError):
                    return


def expand(graph: Graph, level: int = 1, in_jvp: bool = False) -> None:
    """Puts what Dynamo's graphs have in the place of each such call."""
    for node in [node for node in graph.nodes if node.target in CALLS]:
        held, *_ = node.args
        node.meta["in jvp"] = in_jvp
        expand(held.meta["graph"], level + 1, in_jvp or node.target is fx_func.pushed)  # type: ignore[union-attr]
        with graph.inserting_before(node):
            results = CALLS[node.target](node, level)  # type: ignore[index]
        for user in list(node.users):
            if user.target is not operator.getitem:
                raise ValueError("the results of a level are used as a whole")
            user.replace_all_uses_with(results[user.args[1]])  # type: ignore[index]
            graph.erase_node(user)
        graph.erase_node(node)
        if not held.users:  # type: ignore[union-attr]
            graph.erase_node(held)  # type: ignore[arg-type]
