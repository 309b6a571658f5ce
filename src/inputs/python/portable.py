"""While it is on, operators that only Python has are computed by those that LibTorch has too."""

from collections.abc import Callable
from typing import Any

import torch
import torch._prims
import torch.utils._pytree as pytree

from loaded import Noting, on_a_device_that_is_here

aten = torch.ops.aten
prims = torch.ops.prims

# They say something about shapes, or about the order of effects, and compute nothing.
ASSERTIONS = {
    "_assert_async",
    "_assert_scalar",
    "_assert_tensor_metadata",
    "_functional_assert_async",
    "_functional_assert_scalar",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
}


def convert_element_type(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A copy in any case: what is written into the result must not reach `x`."""
    return aten.clone.default(x) if x.dtype == dtype else aten.to.dtype(x, dtype)


def dtype_of_view(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.dtype | None:
    """That of x.view(torch.int32), and of torch.view_copy with one; None for another call."""
    if func not in DTYPE_VIEWS:
        return None
    dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None)
    return dtype if isinstance(dtype, torch.dtype) else None


def view_of_dtype(func: Any, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """In a trace a dtype is a number, and aten.view of a number one of another shape."""
    view: torch.Tensor = prims.view_of_dtype.default(x.detach() if x.requires_grad else x, dtype)
    return aten.clone.default(view) if DTYPE_VIEWS[func] else view


# Functions that view a tensor as another dtype; True for one that returns a copy.
DTYPE_VIEWS: dict[Any, bool] = {
    torch.Tensor.view: False,
    aten.view.dtype: False,
    torch.view_copy: True,
    aten.view_copy.dtype: True,
}


def iota(length: int, *, start: int, step: int, dtype: torch.dtype, device: Any, requires_grad: bool) -> torch.Tensor:
    return aten.arange.start_step(start, start + length * step, step, dtype=dtype, device=device)


def prepare_softmax_online(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    largest = aten.amax.default(x, [dim], True)
    return largest, aten.sum.dim_IntList(aten.exp.default(aten.sub.Tensor(x, largest)), [dim], True)


# Sizes are numbers in the trace: what it reads of a shape is what the shape is now.
SIZES: dict[Any, Callable[..., Any]] = {
    aten.sym_size.int: lambda x, dim: int(x.size(dim)),
    aten.sym_size.default: lambda x: [int(size) for size in x.size()],
    aten.sym_stride.int: lambda x, dim: int(x.stride(dim)),
    aten.sym_stride.default: lambda x: [int(stride) for stride in x.stride()],
    aten.sym_numel.default: lambda x: int(x.numel()),
    aten.sym_storage_offset.default: lambda x: int(x.storage_offset()),
}


def inductor_random(size: list[int], seed: torch.Tensor, mode: str, *, offset: int = 0) -> torch.Tensor:
    draw = {"rand": aten.rand.default, "randn": aten.randn.default}[mode]
    return draw(size, dtype=torch.float32, device=seed.device)


def inductor_randint(low: int, high: int, size: list[int], seed: torch.Tensor, *, offset: int = 0) -> torch.Tensor:
    return aten.randint.low(low, high, size, dtype=torch.int64, device=seed.device)


PORTABLE: dict[Any, Callable[..., Any]] = {
    prims.convert_element_type.default: convert_element_type,
    prims.iota.default: iota,
}


def add_inductors() -> None:
    """The operators that TorchInductor puts into a graph before it is lowered."""
    import torch._inductor.inductor_prims  # registers them

    operators: dict[str, Callable[..., Any]] = {
        "prepare_softmax_online": prepare_softmax_online,
        "inductor_random": inductor_random,
        "inductor_randint": inductor_randint,
        "inductor_seeds": lambda count, device: aten.zeros.default([count], dtype=torch.int64, device=device),
        "inductor_seed": lambda device: aten.zeros.default([], dtype=torch.int64, device=device),
        "inductor_lookup_seed": lambda seeds, index: aten.select.int(seeds, 0, index),
        "inductor_force_stride_order": lambda x, strides: aten.as_strided.default(
            aten.clone.default(x), list(x.shape), strides
        ),
        "fma": lambda a, b, c: aten.add.Tensor(aten.mul.Tensor(a, b), c),
    }
    for name, portable in operators.items():
        if hasattr(prims, name):
            PORTABLE[getattr(prims, name).default] = portable


def with_number(op: Any, args: tuple[Any, ...]) -> Any:
    """A number where a tensor may stand is a number of no dtype of its own; a trace would make a tensor of it."""
    overload = op._overloadname
    is_number = len(args) > 1 and isinstance(args[0], torch.Tensor) and isinstance(args[1], (bool, int, float, complex))
    if overload in ("Tensor", "Tensor_mode") and is_number:
        return getattr(op.overloadpacket, overload.replace("Tensor", "Scalar"), op)
    return op


class Portable(Noting):
    def __init__(self) -> None:
        super().__init__()
        add_inductors()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = pytree.tree_map(lambda value: on_a_device_that_is_here(value, self.note), (args, kwargs or {}))
        if isinstance(func, torch._ops.HigherOrderOperator):
            return self.higher_order(func, args, kwargs)
        if dtype := dtype_of_view(func, args, kwargs):
            return view_of_dtype(func, args[0], dtype)
        if not isinstance(func, torch._ops.OpOverload):
            return func(*args, **kwargs)
        if func in SIZES:
            return SIZES[func](*args, **kwargs)
        if func._opname in ASSERTIONS:
            return None
        if func in PORTABLE:
            if "inductor_random" in func._opname or "inductor_randint" in func._opname:
                self.note("it draws random numbers by TorchInductor's own generator: eager's takes its place")
            with self:
                return PORTABLE[func](*args, **kwargs)
        if func.namespace == "prims" and hasattr(func, "impl_aten"):
            with self:
                return func.impl_aten(*args, **kwargs)
        return with_number(func, args)(*args, **kwargs)

    def higher_order(self, func: Any, args: Any, kwargs: Any) -> Any:
        """One level down: the operators that it calls. Of a branch, the one that the inputs take."""
        name = func.name() if callable(getattr(func, "name", None)) else str(func)
        if name == "cond":
            taken = bool(args[0])
            self.note(f"of torch.cond, the branch that its inputs take ({str(taken).lower()}) is kept")
            with self:
                return args[1 if taken else 2](*(args[3] if len(args) > 3 else ()))
        if name == "while_loop":
            return self.while_loop(*args, **kwargs)
        if name == "wrap_with_set_grad_enabled":
            with torch.set_grad_enabled(args[0]), self:
                return args[1](*args[2:])
        if name == "wrap_with_autocast":
            device, dtype, enabled, cache, inner, *rest = args
            with torch.autocast(device, dtype, enabled, cache), self:
                return inner(*rest)
        return func(*args, **kwargs)

    def while_loop(self, goes_on: Any, body: Any, carried: Any, others: Any = ()) -> Any:
        values, turns = tuple(carried), 0
        with self:
            while bool(goes_on(*values, *others)):
                values, turns = tuple(body(*values, *others)), turns + 1
        self.note(f"of torch.while_loop, the {turns} turns that its inputs take are written one after another")
        return values
