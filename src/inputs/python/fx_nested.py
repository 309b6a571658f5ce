"""Graphs that higher-order operators are given: the branches of a cond, the body of a loop, what is checkpointed."""

import contextlib
from operator import attrgetter
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

import fx_call
import fx_effects
import fx_func
import fx_modes
from fx_inputs import tensors_in
from fx_trace import graph_of
from refused import Refused


MOST_NUMBERS = 64  # of a tensor in a nested graph


def result_of(node: Node, values: dict[Node, Any]) -> tuple[Any, bool]:
    """Returns what the call gives, and whether it writes. Views have the version of what they are views of."""
    args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
    tensors = tensors_in((args, kwargs))
    before = [tensor._version for tensor in tensors]
    called = getattr(args[0], str(node.target)) if node.op == "call_method" else node.target
    with fx_modes.entered(fx_modes.modes_of(node) or []), fx_effects.writes_noticed(node.target, tensors):
        result = called(*args[node.op == "call_method" :], **kwargs)
    schema = getattr(node.target, "_schema", None)
    writes = schema is not None and schema.is_mutable
    return result, writes or before != [tensor._version for tensor in tensors]


def kind_of(result: Any, writes: bool) -> str:
    kind: str = fx_call.kind_of(result)
    return kind + "_" if writes and not kind.endswith("_") else kind


def grad_in(holder: Node, grad: bool) -> bool:
    """True if the graph that this attribute is runs with gradients, where those around it have them or not (`grad`)."""
    return grad or any(user.target in fx_func.WITH_GRADIENTS for user in holder.users)


def nested(module: torch.nn.Module, grad: bool) -> GraphModule:
    """Returns the module as a graph of calls that say their modes. `grad` says whether gradients are enabled where it
    is called. Raises Refused for one that has tensors of its own."""
    graph, switched = graph_of(module), fx_modes.Switched(grad)
    root = torch.nn.Module()
    for node in list(graph.nodes):
        node.meta.pop("is_wrapped", None)  # torch.fx would patch the function in every trace to come
        if node.op == "get_attr":
            value = attrgetter(str(node.target))(module)
            if not isinstance(value, torch.nn.Module):
                node.replace_all_uses_with(literal(graph, node, value))
                graph.erase_node(node)
                continue
            root.add_module(str(node.target), inner := nested(value, grad_in(node, grad)))
            node.meta["graph"] = inner.graph
        elif node.op.startswith("call_"):
            take_call(node, switched)
    for node in reversed(list(graph.nodes)):
        if node.target in fx_modes.SWITCHES:
            graph.erase_node(node)
    return GraphModule(root, graph)


def literal(graph: torch.fx.Graph, node: Node, value: torch.Tensor) -> Node:
    """A call that makes a small tensor, in the place of an attribute."""
    if value.numel() > MOST_NUMBERS:
        raise Refused(f"cannot be converted: a nested graph has a large tensor of its own, {node.target}")
    with graph.inserting_before(node):
        made = graph.call_function(torch.tensor, (value.tolist(),), {"dtype": value.dtype, "device": value.device})
    made.meta["modes"] = []
    return made


def take_call(node: Node, switched: fx_modes.Switched) -> None:
    try:
        if not switched.take(node):
            node.meta["modes"] = switched.now()
    except fx_modes.BadMode as error:
        raise Refused(f"cannot be converted: {error} ({node.name})") from error


GIVEN = {
    "cond": slice(3, 4),
    "while_loop": slice(2, 4),
    "tag_activation_checkpoint": slice(1, None),
    "autograd_function_apply": slice(2, None),
    "vmapped": slice(5, None),
}
"""The arguments of a higher-order operator that its graphs are given, where they are given them as they are."""


def note_kinds(node: Node, values: dict[Node, Any]) -> None:
    """Has the calls of the graphs say what they give, where they can be run on their own: a graph can then be put in
    the place of the operator."""
    given = GIVEN.get(getattr(node.target, "__name__", ""))
    if given is None:
        return
    args = map_arg(node.args, values.__getitem__)
    flat = [value for part in args[given] for value in (part if isinstance(part, (list, tuple)) else [part])]
    copied = [value.detach().clone() if isinstance(value, torch.Tensor) else value for value in flat]
    for graph in (argument.graph for argument in node.args if isinstance(argument, GraphModule)):
        with contextlib.suppress(Exception), torch.random.fork_rng():  # a branch that is not taken may raise
            own = dict(zip(graph.find_nodes(op="placeholder"), copied, strict=True))
            for call in (inner for inner in graph.nodes if inner.op.startswith("call_")):
                own[call], writes = result_of(call, own)
                call.meta["parts"] = fx_call.parts_of(own[call])
                call.meta["kind"] = kind_of(own[call], writes)
