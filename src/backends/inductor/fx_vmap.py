"""torch.vmap as one call with a graph, and the calls that enter and leave its level, as Dynamo's graphs have them.

A level that is entered has to be left, and what lives in it cannot be looked at from outside: so a program has
`vmapped(body, size, in_dims, out_dims, randomness, *arguments)`, and the graph that is compiled what Dynamo would have.
"""

import operator
from typing import Any

import torch
from torch._functorch import predispatch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

Dims = tuple[int | None, ...]
FUNCTIONS = (
    predispatch.lazy_load_decompositions,
    predispatch._vmap_increment_nesting,
    predispatch._vmap_decrement_nesting,
    predispatch._add_batch_dim,
    predispatch._remove_batch_dim,
)
"""The functions that Dynamo makes torch.vmap of."""
BODY = "vmap_body_"  # and a number: the attribute that is the graph of a call


def vmapped(body: Any, size: int, in_dims: Dims, out_dims: Dims, randomness: str, *arguments: torch.Tensor) -> Any:
    """Returns what torch.vmap gives. Raises ValueError where the arguments have another size than the graph says."""
    if any(dim is not None and given.size(dim) != size for dim, given in zip(in_dims, arguments, strict=True)):
        raise ValueError(f"vmap over {size} of arguments of another size")
    return torch.vmap(body, tuple(in_dims), tuple(out_dims), randomness=randomness)(*arguments)


class NoLevel(Exception):
    """Raised where the calls in a level do not make one torch.vmap."""


def fold(graph: Graph, module: torch.nn.Module) -> None:
    """Makes each level of torch.vmap one call of vmapped(), the inner ones first. The graphs become attributes of the
    module. What makes no such call stays as it is."""
    entered: list[Node] = []
    for node in list(graph.nodes):
        if node.target is predispatch.lazy_load_decompositions:
            graph.erase_node(node)  # it gives nothing, and stands before each level that is entered
        elif node.target is predispatch._vmap_increment_nesting:
            entered.append(node)
        elif node.target is predispatch._vmap_decrement_nesting and entered:
            try:
                Level(graph, entered.pop(), node, len(entered) + 1).fold(module)
            except NoLevel:
                return


class Level:
    """The calls between one that enters a level of torch.vmap and the one that leaves it."""

    def __init__(self, graph: Graph, enter: Node, leave: Node, number: int) -> None:
        nodes = list(graph.nodes)
        self.graph, self.enter, self.leave, self.number = graph, enter, leave, number
        self.nodes = nodes[nodes.index(enter) + 1 : nodes.index(leave)]
        self.added = [node for node in self.nodes if node.target is predispatch._add_batch_dim]
        self.removed = [node for node in self.nodes if node.target is predispatch._remove_batch_dim]
        aside = {*self.added, *self.removed}
        self.calls = [node for node in self.nodes if node not in aside]
        inside = {*self.calls, *self.added}
        if any(user not in inside and user not in self.removed for node in inside for user in node.users):
            raise NoLevel
        if any(node.args[2] != number for node in self.added) or any(node.args[1] != number for node in self.removed):
            raise NoLevel

    def fold(self, module: torch.nn.Module) -> None:
        body, known = Graph(), {}
        arguments: list[Node] = []
        dims: list[int | None] = []
        for node in self.added:
            known[node] = self.argument(body, node.args[0], node.args[1], arguments, dims)
        outside = {given: None for node in [*self.calls, *self.removed] for given in node.all_input_nodes
                   if given not in self.nodes}  # fmt: skip
        for given in outside:
            if given.op != "get_attr":
                known[given] = self.argument(body, given, None, arguments, dims)
            elif str(given.target).startswith(BODY):
                known[given] = body.node_copy(given)
            else:
                raise NoLevel
        for node in self.calls:
            known[node] = body.node_copy(node, known.__getitem__)
        body.output(tuple(known[node.args[0]] for node in self.removed))  # type: ignore[index]
        name = f"{BODY}{sum(1 for child, _ in module.named_children() if child.startswith(BODY))}"
        module.add_module(name, GraphModule(module, body))
        size, randomness = self.enter.args
        out_dims = tuple(node.args[3] for node in self.removed)
        with self.graph.inserting_before(self.enter):
            held = self.graph.get_attr(name)
            given = (held, size, tuple(dims), out_dims, randomness, *arguments)
            made = self.graph.call_function(vmapped, given)
            for place, node in enumerate(self.removed):
                node.replace_all_uses_with(self.graph.call_function(operator.getitem, (made, place)))
        for node in reversed([self.enter, *self.nodes, self.leave]):
            self.graph.erase_node(node)

    @staticmethod
    def argument(body: Graph, given: Any, dim: Any, arguments: list[Node], dims: list[int | None]) -> Node:
        arguments.append(given)
        dims.append(dim)
        return body.placeholder(f"argument_{len(arguments) - 1}")


def expand(graph: Graph, level: int = 1) -> None:
    """Puts what Dynamo's graphs have in the place of each call of vmapped()."""
    for node in [node for node in graph.nodes if node.target is vmapped]:
        held, size, in_dims, out_dims, randomness, *arguments = node.args
        body: Graph = held.meta["graph"]  # type: ignore[union-attr]
        expand(body, level + 1)
        with graph.inserting_before(node):
            results = expanded(node, body, level, (size, in_dims, out_dims, randomness), arguments)
        for user in list(node.users):
            if user.target is not operator.getitem:
                raise ValueError("the results of vmap are used as a whole")
            user.replace_all_uses_with(results[user.args[1]])  # type: ignore[index]
            graph.erase_node(user)
        graph.erase_node(node)
        if not held.users:  # type: ignore[union-attr]
            graph.erase_node(held)  # type: ignore[arg-type]


def expanded(node: Node, body: Graph, level: int, how: Any, arguments: Any) -> list[Node]:
    """The results. All calls run under the modes of the call of vmapped()."""
    size, in_dims, out_dims, randomness = how
    graph, modes = node.graph, node.meta["modes"]

    def call(target: Any, given: tuple[Any, ...] = ()) -> Node:
        made = graph.call_function(target, given)
        made.meta["modes"] = modes
        return made

    call(predispatch.lazy_load_decompositions)
    call(predispatch._vmap_increment_nesting, (size, randomness))
    inner = [given if dim is None else call(predispatch._add_batch_dim, (given, dim, level))
             for dim, given in zip(in_dims, arguments)]  # fmt: skip
    known: dict[Node, Node] = dict(zip(body.find_nodes(op="placeholder"), inner))
    for inner_node in body.nodes:
        if inner_node.op not in ("placeholder", "output"):
            known[inner_node] = made = graph.node_copy(inner_node, known.__getitem__)
            made.meta["modes"] = modes + made.meta.get("modes", [])
    results = map_arg(body.output_node().args[0], known.__getitem__)
    given = [call(predispatch._remove_batch_dim, (result, level, size, dim)) for result, dim in zip(results, out_dims)]
    call(predispatch._vmap_decrement_nesting)
    return given
