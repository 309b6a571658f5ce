"""Levels of torch.func as calls with a graph, and the calls that enter and leave them, as Dynamo's graphs have them.

A level that is entered has to be left, and what lives in it cannot be looked at from outside: so a program has calls
such as `fx_vmap.vmapped(body, ...)`, and the graph that is compiled what Dynamo would have. Each kind of level has a
file, which says how its calls are put together (`Folded`) and taken apart (`expanded`).
"""

import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch._functorch import eager_transforms, predispatch
from torch.autograd import forward_ad
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

PLACES = (predispatch, torch._C._functorch, eager_transforms, forward_ad, torch._C._autograd, torch._C)
"""The modules of which Dynamo calls functions to make levels."""


def function_of(name: str) -> Any:
    """The function of that name, which PyTorch 2.13 has in Python and others in C++ alone; None where it has none."""
    return next((getattr(place, name) for place in PLACES if hasattr(place, name)), None)


BODY = "level_body_"  # and a number: the attribute that is the graph of a call


class NoLevel(Exception):
    """Raised where the calls in a level make no call that has a form."""


class Folded:
    """The calls between one that enters a level and the one that leaves it, on the way to one call with a graph."""

    def __init__(self, graph: Graph, module: torch.nn.Module, enter: Node, leave: Node, number: int) -> None:
        nodes = list(graph.nodes)
        self.graph, self.module, self.enter, self.leave, self.number = graph, module, enter, leave, number
        self.nodes = nodes[nodes.index(enter) + 1 : nodes.index(leave)]
        self.body, self.known = Graph(), dict[Node, Node]()
        self.arguments: list[Any] = []

    def of(self, function: Any) -> list[Node]:
        """The calls of a function in the level. Raises NoLevel for those of another level."""
        return [node for node in self.nodes if node.target is function]

    def argument(self, given: Any) -> Node:
        """A new argument of the graph, which is given this."""
        self.arguments.append(given)
        return self.body.placeholder(f"argument_{len(self.arguments) - 1}")

    def copy(self, calls: Iterable[Node]) -> None:
        """Copies calls into the graph. Values from outside become arguments."""
        calls = list(calls)
        for node in calls:
            for given in node.all_input_nodes:
                if given not in self.known and given not in calls:
                    self.known[given] = self.taken(given)
        for node in calls:
            self.known[node] = self.body.node_copy(node, self.known.__getitem__)

    def taken(self, given: Node) -> Node:
        if given in self.nodes:
            raise NoLevel
        if given.op == "get_attr" and not isinstance(operator.attrgetter(str(given.target))(self.module), torch.Tensor):
            return self.body.node_copy(given)
        return self.argument(given)

    def held(self, results: Iterable[Node]) -> Node:
        """The graph that gives these, as an attribute of the module."""
        self.body.output(tuple(self.known[node] for node in results))
        count = sum(1 for child, _ in self.module.named_children() if child.startswith(BODY))
        self.module.add_module(f"{BODY}{count}", GraphModule(self.module, self.body))
        return self.graph.get_attr(f"{BODY}{count}")

    def put(self, function: Any, given: tuple[Any, ...], results: Iterable[tuple[Any, Node]]) -> None:
        """Has a call of the function give, each at its place, what these nodes are so far. Called where the call is to
        stand."""
        made = self.graph.call_function(function, given)
        for place, node in list(results):
            node.replace_all_uses_with(self.graph.call_function(operator.getitem, (made, place)))

    def erase(self, nodes: Iterable[Node]) -> None:
        """Erases what is read no longer. Raises NoLevel where a value of the level is read after it."""
        for node in reversed(list(nodes)):
            if node.users:
                raise NoLevel
            self.graph.erase_node(node)


class Expansion:
    """The calls that take the place of one: a copy of its graph between calls that enter and leave the level. All run
    under the modes of the call."""

    modes: list[dict[str, Any]]

    def __init__(self, node: Node) -> None:
        self.graph, self.modes = node.graph, node.meta["modes"]
        self.body: Graph = node.args[0].meta["graph"]  # type: ignore[union-attr]

    def call(self, target: Any, *given: Any, **named: Any) -> Node:
        made = self.graph.call_function(target, given, named)
        made.meta["modes"] = self.modes
        return made

    def run(self, arguments: Iterable[Any]) -> Any:
        """The results of the graph, of these arguments."""
        known: dict[Node, Node] = dict(zip(self.body.find_nodes(op="placeholder"), arguments, strict=True))
        for inner in self.body.nodes:
            if inner.op not in ("placeholder", "output"):
                known[inner] = made = self.graph.node_copy(inner, known.__getitem__)
                made.meta["modes"] = self.modes + inner.meta.get("modes", [])
        return map_arg(self.body.output_node().args[0], known.__getitem__)
