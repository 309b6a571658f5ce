"""The torch.fx graph of a module, every call as it stands in its source: what is written in place stays so."""

import copy
import inspect
import operator
import traceback
from collections.abc import Callable
from typing import Any

import torch
import torch.fx.proxy
import torch.utils._pytree as pytree
from torch.overrides import TorchFunctionMode

from refused import Refused

SWITCHES = {
    torch._C._set_grad_enabled: "gradients are switched on or off inside the graph",
    torch.amp.autocast_mode._enter_autocast: "autocast is switched on or off inside the graph",
    torch.amp.autocast_mode._exit_autocast: "autocast is switched on or off inside the graph",
    torch.autograd.grad_mode._enter_inference_mode: "inference mode is entered inside the graph",
    torch.autograd.grad_mode._exit_inference_mode: "inference mode is entered inside the graph",
}
"""Calls that set a mode for those that follow, and what is said of them."""
LEVELS = ("torch._C._functorch", "torch._functorch")
"""Modules whose functions enter and leave the levels of torch.func."""


def mode_set_by(target: Any) -> str:
    """Returns a sentence on the mode that a call of this sets for others; an empty text for any other call."""
    if (getattr(target, "__module__", None) or "").startswith(LEVELS):
        return "levels of torch.func are entered inside the graph"
    return SWITCHES.get(target, "") if callable(target) else ""


class Recorded(torch.fx.Proxy):
    """A value of the graph, whose items can be assigned and which can be written in place, unlike a torch.fx.Proxy."""

    def __getattr__(self, name: str) -> Any:
        attribute = RecordedAttribute(self, name)
        if not callable(getattr(torch.Tensor, name, len)):
            attribute.node  # noqa: B018  a property is asked here, not where it is used first
        return attribute

    def __setitem__(self, index: Any, value: Any) -> None:
        self.tracer.create_proxy("call_function", operator.setitem, (self, index, value), {})


class RecordedAttribute(Recorded, torch.fx.proxy.Attribute):
    """An attribute of a value, which becomes a node where it is not called as a method."""


def in_place(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Returns the method of Recorded for an operator such as `x += 1`."""

    def method(self: Any, other: Any) -> Any:
        return self.tracer.create_proxy("call_function", function, (self, other), {})

    return method


for name in torch.fx.graph.inplace_methods.keys() - {"setitem"}:
    setattr(Recorded, f"__{name}__", in_place(getattr(operator, name)))


class Created(TorchFunctionMode):
    """Records the calls that are given no value of the graph and make a tensor, torch.zeros(3) for one."""

    def __init__(self, tracer: torch.fx.Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if any(isinstance(leaf, torch.fx.Proxy) for leaf in pytree.tree_leaves((args, kwargs))):
            return func(*args, **kwargs)
        if func not in SWITCHES:
            result = func(*args, **kwargs)
            if not any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(result)):
                return result
        return self.tracer.create_proxy("call_function", func, args, kwargs)


class Recorder(torch.fx.Tracer):
    """Traces into modules, and into no function of torch.nn.functional."""

    proxy_buffer_attributes = True

    def __init__(self) -> None:
        super().__init__()
        functional = torch.nn.functional
        named = [value for key, value in vars(functional).items() if not key.startswith("_")]
        self._autowrap_function_ids = {id(value) for value in named if inspect.isfunction(value)}
        self._autowrap_search = [functional]

    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        return False

    def proxy(self, node: torch.fx.Node) -> torch.fx.Proxy:
        return Recorded(node, self)


def higher_order_in(error: Exception) -> str:
    """Returns the name of the higher-order operator that has raised it; empty where none has."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if isinstance(called := frame.f_locals.get("self"), torch._ops.HigherOrderOperator):
            return str(called.name())
    return ""


def graph_of(module: torch.nn.Module) -> torch.fx.Graph:
    """Returns a graph of the module that may be changed. Constant tensors of its source become attributes of it.

    Raises Refused where torch.fx cannot trace it.
    """
    if isinstance(module, torch.fx.GraphModule) and not any(node.op == "call_module" for node in module.graph.nodes):
        graph = torch.fx.Graph()
        result = graph.graph_copy(module.graph, {})
        graph.output(result)
        return graph
    recorder, traced = Recorder(), copy.deepcopy(module)  # which may assign what is recorded to an attribute of its own
    try:
        with torch.random.fork_rng(), Created(recorder):
            graph = recorder.trace(traced)
    except Exception as error:
        if name := higher_order_in(error):
            raise Refused(f"cannot be converted: it calls the higher-order operator {name}") from error
        text = " ".join(str(error).split())[:300]
        raise Refused(f"cannot be read by torch.fx: {type(error).__name__}: {text}") from error
    for node in graph.nodes:
        if node.op == "get_attr" and node.target.startswith("_tensor_constant") and not hasattr(module, node.target):
            setattr(module, node.target, getattr(traced, node.target))
    return graph
