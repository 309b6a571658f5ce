"""The graphs that Dynamo makes of a function: what torch.compile hands to a backend, before a backend touches it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from .original import OF_DYNAMO, How, difference, in_float64, ran
from .tracing import copies


@dataclass
class Graph:
    module: torch.fx.GraphModule
    args: tuple[Any, ...]  # of its first call


class Graphs(list[Graph]):
    """In the order of their first calls."""

    problem = ""  # how they differ in eager from the function; empty where Dynamo captured it right


class Keeper:
    """A backend that keeps each graph with its first arguments, and runs it in eager."""

    def __init__(self) -> None:
        self.graphs = Graphs()

    def __call__(self, module: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        kept, seen = copy.deepcopy(module), False

        def call(*args: Any) -> Any:
            nonlocal seen
            if not seen:
                seen = True
                self.graphs.append(Graph(kept, copies(args, wishes=True)))
            return module.forward(*args)

        return call


def graphs_of(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    grad: bool,
    autocast: torch.dtype | None = None,
    dynamic: bool = False,
) -> Graphs:
    """Returns the graphs of one call, with static sizes unless `dynamic`; `problem` says how what they give in eager
    differs from what the function gives. `grad`: the inputs require gradients, which are compared too.

    Raises what Dynamo raises. What Dynamo has compiled in this process is forgotten: give it one of its own.
    """
    how, arguments, keeper = How(grad, autocast, None), (args, kwargs), Keeper()
    torch._dynamo.reset()
    expected = ran(call, arguments, how)
    with torch._dynamo.config.patch(OF_DYNAMO):
        found = ran(torch.compile(call, backend=keeper, dynamic=dynamic), arguments, how, compiled=True)
    keeper.graphs.problem = difference(expected, found, in_float64(call, arguments, how))
    return keeper.graphs
