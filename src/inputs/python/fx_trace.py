"""The torch.fx graph of a module, every call as it stands in its source: what is written in place stays so."""

import contextlib
import copy
import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
import torch.fx.proxy
import torch.utils._pytree as pytree
from torch._dynamo import utils
from torch.autograd import grad_mode
from torch.nn import attention
from torch.overrides import TorchFunctionMode

import fx_levels
import fx_modes
import fx_numpy
import fx_transforms
from refused import Refused

ENTERING = {kind.enter for kind in fx_transforms.KINDS} - {None}


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
        if func not in fx_modes.SWITCHES:
            result = func(*args, **kwargs)
            leaves = pytree.tree_leaves((args, kwargs, result))
            if any(isinstance(leaf, torch.fx.Proxy) for leaf in leaves):
                return result
            if not any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(result)):
                return result
        return self.tracer.create_proxy("call_function", func, args, kwargs)


class HigherOrder:
    """Takes the place of torch.ops.higher_order: what it has is recorded, and looks at no argument itself."""

    def __init__(self, tracer: torch.fx.Tracer) -> None:
        self.tracer, self.operators = tracer, torch.ops.higher_order

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operator = getattr(self.operators, name)
        return lambda *args, **kwargs: self.tracer.create_proxy("call_function", operator, args, kwargs)


def called_by(tracer: torch.fx.Tracer) -> Callable[..., Any]:
    """The method of an object that is called, of NumPy's functions, for one."""
    return lambda self, *args, **kwargs: tracer.create_proxy("call_function", self, args, kwargs)


@contextlib.contextmanager
def recorded_by(tracer: torch.fx.Tracer) -> Iterator[None]:
    """While it is open, what no TorchFunctionMode is told of is recorded: entering and leaving inference mode, and
    calls of higher-order operators and of what levels of torch.func are made of."""

    def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: tracer.create_proxy("call_function", function, args, kwargs)

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(torch.ops, "higher_order", HigherOrder(tracer)))
        for function in (grad_mode._enter_inference_mode, grad_mode._exit_inference_mode):
            stack.enter_context(mock.patch.object(grad_mode, function.__name__, recorded(function)))
        stack.enter_context(mock.patch.object(torch, "as_tensor", recorded(torch.as_tensor)))  # it asks its argument
        autograd = torch._C._autograd  # `x.data`
        data_of = recorded(autograd._get_data_attr)
        stack.enter_context(mock.patch.object(autograd, "_get_data_attr", data_of))
        for kind in fx_numpy.FUNCTIONS:
            stack.enter_context(mock.patch.object(kind, "__call__", called_by(tracer)))
        for name in fx_modes.NAMES_OF_KERNELS:
            stack.enter_context(mock.patch.object(attention, name, recorded(getattr(attention, name))))
        for of_levels in fx_transforms.FUNCTIONS:
            name = of_levels.__name__
            for place in (place for place in fx_levels.PLACES if getattr(place, name, None) is of_levels):
                stack.enter_context(mock.patch.object(place, name, recorded(of_levels)))
        yield


class Recorder(torch.fx.Tracer):
    """Traces into modules, and into no function of torch.nn.functional."""

    proxy_buffer_attributes = True

    def __init__(self) -> None:
        super().__init__()
        functional = torch.nn.functional
        named = [value for key, value in vars(functional).items() if not key.startswith("_")]
        named.append(utils.numpy_attr_wrapper)
        self._autowrap_function_ids = {id(value) for value in named if inspect.isfunction(value)}
        self._autowrap_search = [functional]

    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        return False

    def proxy(self, node: torch.fx.Node) -> torch.fx.Proxy:
        return Recorded(node, self)

    def create_arg(self, a: Any) -> Any:
        """A module that a higher-order operator is given is an attribute."""
        if isinstance(a, torch.nn.Module):
            names = (name for name, module in self.root.named_modules() if module is a)
            return self.create_node("get_attr", next(names), (), {})
        return super().create_arg(a)


def graph_of(module: torch.nn.Module) -> torch.fx.Graph:
    """Returns a graph of the module that may be changed. Constant tensors of its source become attributes of it.

    Raises Refused where torch.fx cannot trace it.
    """
    if isinstance(module, torch.fx.GraphModule) and not any(node.op == "call_module" for node in module.graph.nodes):
        graph = torch.fx.Graph()
        result = graph.graph_copy(module.graph, {})
        graph.output(result)
        return with_levels_folded(graph, module)
    recorder, traced = Recorder(), copy.deepcopy(module)  # which may assign what is recorded to an attribute of its own
    try:
        with torch.random.fork_rng(), recorded_by(recorder), Created(recorder):
            graph = recorder.trace(traced)
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        raise Refused(f"cannot be read by torch.fx: {type(error).__name__}: {text}") from error
    for node in graph.nodes:
        if node.op == "get_attr" and node.target.startswith("_tensor_constant") and not hasattr(module, node.target):
            setattr(module, node.target, getattr(traced, node.target))
    return with_levels_folded(graph, module)


def with_levels_folded(graph: torch.fx.Graph, module: torch.nn.Module) -> torch.fx.Graph:
    """Returns the graph with each level of torch.func as one call. Raises Refused where one has no such form."""
    fx_transforms.fold(graph, module)
    for node in graph.nodes:
        if node.target in ENTERING:
            raise Refused(f"cannot be converted: a level of torch.func is entered that has no form ({node.name})")
    return graph
