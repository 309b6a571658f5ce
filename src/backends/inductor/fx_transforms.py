"""The levels of torch.func that have a form as calls, and where they become such calls and levels again."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.fx import Graph, Node

import fx_func
import fx_vmap
from fx_levels import Folded, NoLevel


class Kind(NamedTuple):
    enter: Any
    leave: Any
    fold: Callable[[Folded], None]


KINDS = (
    Kind(fx_vmap.ENTER, fx_vmap.LEAVE, fx_vmap.fold),
    Kind(fx_func.ENTER_GRAD, fx_func.LEAVE_GRAD, fx_func.fold_grad),
    Kind(fx_func.ENTER_JVP, fx_func.LEAVE_JVP, fx_func.fold_jvp),
)
ASIDE = (fx_vmap.LOAD, *fx_func.ASIDE)
CALLS = {
    fx_vmap.vmapped: fx_vmap.expanded,
    fx_func.differentiated: fx_func.expanded_grad,
    fx_func.pulled: fx_func.expanded_pulled,
    fx_func.pushed: fx_func.expanded_pushed,
}
"""The calls of programs, and what takes them apart."""
FUNCTIONS: list[Any] = [function for holder in (fx_vmap, fx_func) for name, function in vars(holder).items()
             if name.isupper() and callable(function)]  # fmt: skip
"""The functions of which Dynamo makes levels."""


def fold(graph: Graph, module: torch.nn.Module) -> None:
    """Makes each level one call, the inner ones first. The graphs become attributes of the module. What makes no such
    call stays as it is."""
    enters = {kind.enter for kind in KINDS} - {None}
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
