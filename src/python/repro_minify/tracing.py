"""A module or function as TorchScript: traced, or scripted where a trace would say something else."""

import contextlib
import copy
import dataclasses
import inspect
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from .apart import generators_kept
from .errors import CannotTrace, first_line

SEED = 0


class Flat(torch.nn.Module):
    """Takes the tensors of a call one by one, wherever in its arguments they stood; what is no tensor is a constant."""

    def __init__(self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__()
        leaves, self.spec = pytree.tree_flatten((args, kwargs))
        self._ = call  # no part of the names of its parameters, as words are cut out of "_.weight"
        self.at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.constants = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.training = bool(getattr(call, "training", False))

    def forward(self, *tensors: torch.Tensor) -> Any:
        leaves = list(self.constants)
        for i, tensor in zip(self.at, tensors, strict=True):
            leaves[i] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return tensors_of(self._(*args, **kwargs))


def leaves_of(value: Any) -> Iterator[Any]:
    """Takes apart what pytree does, and dataclasses and classes of lists and dictionaries too."""
    for leaf in pytree.tree_leaves(value):
        if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            yield from leaves_of([getattr(leaf, each.name, None) for each in dataclasses.fields(leaf)])
        elif isinstance(leaf, Mapping):
            yield from leaves_of(list(leaf.values()))
        elif isinstance(leaf, (list, tuple)) and not isinstance(leaf, torch.Size):
            yield from leaves_of(list(leaf))
        else:
            yield leaf


def tensors_of(result: Any) -> Any:
    """The tensors of what a call returns; a single one as it is."""
    tensors = [leaf for leaf in leaves_of(result) if isinstance(leaf, torch.Tensor)]
    if not tensors:
        raise CannotTrace(f"it returns {type(result).__name__}, no tensors: wrap it in a function that returns them")
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def copies(values: Any, wishes: bool = False) -> Any:
    """Deep, with strides and what shares memory as they are; outside of any gradient's history. With `wishes` a copy
    requires a gradient where the given tensor does."""
    detached = pytree.tree_map(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, values)
    copied = copy.deepcopy(detached)
    return with_wishes(copied, values) if wishes else copied


def with_wishes(values: Any, given: Any) -> Any:
    """The values, each tensor of which requires a gradient where the given one does."""

    def with_wish(value: Any, wish: Any) -> Any:
        return value.requires_grad_(wish.requires_grad) if isinstance(wish, torch.Tensor) else value

    return pytree.tree_map(with_wish, values, given)


def has_values(buffer: torch.Tensor | None) -> bool:
    """False for None, and for a buffer of a lazy module, which has no sizes yet."""
    return buffer is not None and not torch.nn.parameter.is_lazy(buffer)


def put_back(buffer: torch.Tensor, value: torch.Tensor) -> None:
    """Writes unseen by autograd: a graph of the user's may have saved the buffer. Elements that stand for several are
    written once."""
    with torch.no_grad(), torch.inference_mode(buffer.is_inference()):
        once = buffer.data
        for dim, stride in enumerate(buffer.stride() if buffer.layout == torch.strided else ()):
            if stride == 0 and buffer.shape[dim] > 1:
                once, value = once.narrow(dim, 0, 1), value.narrow(dim, 0, 1)
        once.copy_(value)


@contextlib.contextmanager
def without_traces(call: Any) -> Iterator[None]:
    """Leaves generators and the module's buffers as they were. Autocast is the program's affair, and kept out; what a
    user has compiled in it runs in eager."""
    modules = list(call.modules()) if isinstance(call, torch.nn.Module) else []
    kept = [(module, dict(module._buffers)) for module in modules]
    values = [(buffer, buffer.clone()) for _, buffers in kept for buffer in buffers.values() if has_values(buffer)]
    with contextlib.ExitStack() as stack:
        stack.enter_context(generators_kept())
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        for device in ("cpu", "cuda"):
            stack.enter_context(torch.autocast(device, enabled=False))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            for module, buffers in kept:
                for added in module._buffers.keys() - buffers.keys():
                    del module._buffers[added]
                module._buffers.update(buffers)
            for buffer, value in values:
                put_back(buffer, value)


def difference(call: Callable[..., Any], other: Callable[..., Any], arguments: Any) -> str:
    """How TorchScript, which shares the buffers of `call`, disagrees with it on the same seed; empty: it agrees."""
    results = []
    with torch.no_grad():
        for each in (call, other):
            args, kwargs = copies(arguments)
            with without_traces(call):
                torch.manual_seed(SEED)
                results.append(tensors_of(each(*args, **kwargs)))
    try:
        torch.testing.assert_close(results[1], results[0], equal_nan=True)
    except AssertionError as error:
        return str(error).splitlines()[0]
    return ""


class DtypeViews(TorchFunctionMode):
    """Has x.view(torch.int32) traced as an operator of its own: in TorchScript a dtype is a number, and aten.view of a
    number is a view of another shape."""

    COPIES: ClassVar[dict[Any, bool]] = {
        torch.Tensor.view: False,
        torch.ops.aten.view.dtype: False,
        torch.view_copy: True,
        torch.ops.aten.view_copy.dtype: True,
    }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None) if func in self.COPIES else None
        if not isinstance(dtype, torch.dtype):
            return func(*args, **kwargs)
        source = args[0].detach() if args[0].requires_grad else args[0]  # PyTorch gives it no gradient either
        view = torch.ops.prims.view_of_dtype.default(source, dtype)
        return view.clone() if self.COPIES[func] else view


class Numbers(TorchFunctionMode):
    """Has x + 1 traced as aten::add.Scalar, the sum of a tensor and a number. A trace by itself takes down the sum of
    two tensors, one of them a constant, and a backend does not take the dtype of that constant for the tensor's."""

    NAMES: ClassVar[set[str]] = {"add", "sub", "mul", "div", "true_divide", "floor_divide"}
    # A method that is written in Python calls another operator, where no mode sees it.
    OPERATORS: ClassVar[dict[str, str]] = {"__floordiv__": "floor_divide"}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        name = self.OPERATORS.get(name, name)
        if name == "__rdiv__":  # 2 / x
            func, args = torch.Tensor.mul, (args[0].reciprocal(), *args[1:])
            name = "mul"
        numbers = (bool, int, float, complex)
        with_number = len(args) == 2 and isinstance(args[0], torch.Tensor) and type(args[1]) in numbers
        if with_number and name.rstrip("_") in self.NAMES and not set(kwargs) - {"alpha", "rounding_mode"}:
            packet = getattr(torch.ops.aten, name)
            func = packet.Scalar_mode if "rounding_mode" in kwargs else packet.Scalar
        return func(*args, **kwargs)


def only_forward(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a torch.autograd.Function as `apply` does where no gradient is asked for."""
    with torch.no_grad():
        if function.setup_context is not torch.autograd.Function.setup_context:
            return function.forward(*args, **kwargs)
        context: Any = torch.autograd.function.FunctionCtx()
        context.needs_input_grad = (False,) * len(args)
        return function.forward(context, *args, **kwargs)


def forwards_in_line(grad: bool) -> contextlib.AbstractContextManager[Any]:
    """Has the operators of each torch.autograd.Function traced: a trace takes down a call of Python, which no archive
    holds. With `grad` it stays one, as the backward that the function declares would be lost."""
    if grad:
        return contextlib.nullcontext()
    tracing = threading.get_ident()
    usual = inspect.getattr_static(torch.autograd.Function, "apply")  # a class method of Python's, or since 2.15 of C's

    def apply(function: Any, *args: Any, **kwargs: Any) -> Any:
        """Other threads of the user's program go on with their gradients."""
        if threading.get_ident() == tracing:
            return only_forward(function, *args, **kwargs)
        return usual.__get__(None, function)(*args, **kwargs)

    return mock.patch.object(torch.autograd.Function, "apply", classmethod(apply))


def refuse_python(module: Any) -> None:
    """Raises CannotTrace where a call of Python is left: torch.jit.save() refuses that of a function, and the program
    has no Python to call an operator in that was registered from Python."""
    graph = module.inlined_graph  # its nodes live as long as it does
    for node in graph.findAllNodes("prim::PythonOp"):
        raise CannotTrace(f"it calls {node.pyname()}, which is Python: with gradients TorchScript has no form for it")
    for name in sorted({definition.partition(".")[0] for definition in torch.library._defs}):
        if not name.startswith("prims::") and graph.findAllNodes(name):
            raise CannotTrace(f"it calls {name}, an operator that is registered from Python and exists only there")


def traced(flat: Flat, tensors: list[torch.Tensor], grad: bool) -> torch.jit.ScriptModule:
    with without_traces(flat), DtypeViews(), Numbers(), forwards_in_line(grad):
        torch.manual_seed(SEED)
        module = torch.jit.trace(flat, tuple(copies(tensors)), strict=False, check_trace=False)
    refuse_python(module)
    if problem := difference(flat, module, (tuple(tensors), {})):
        raise CannotTrace(f"the trace computes something else ({problem})")
    return module


def scripted(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One that raises in eager has to raise here."""
    with without_traces(call):
        module = torch.jit.script(call)
    refuse_python(module)
    try:
        problem = difference(call, module, (args, kwargs))
    except Exception:  # the very call that fails: the program will see how
        return module
    if problem:
        raise CannotTrace(f"the script computes something else ({problem})")
    return module


def reason(error: Exception) -> str:
    return str(error) if isinstance(error, CannotTrace) else first_line(error)


def to_torchscript(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], grad: bool
) -> tuple[Any, Any, bool]:
    """The TorchScript module, its inputs as inputs.pt has them, and whether it is a script, which still has modes.
    `grad`: gradients will be asked for."""
    flat = Flat(call, args, kwargs)
    tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    try:
        values = tuple(each.detach() for each in tensors)
        return traced(flat, tensors, grad), with_wishes(values, tuple(tensors)) if grad else values, False
    except Exception as error:
        refused = reason(error)
    try:
        return scripted(call, args, kwargs), copies((args, kwargs) if kwargs else args, wishes=grad), True
    except Exception as error:
        raise CannotTrace(f"torch.jit.trace: {refused}; torch.jit.script: {reason(error)}") from error
