"""The reference in float64 of a program that asks for other floating dtypes itself."""

import functools
from typing import Any, Callable

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

from draws import drawn, draws_otherwise


class Wide(TorchDispatchMode):
    """Makes float64 of what is made in another floating-point dtype: of the rounding that a program asks for the
    reference has none, however it is written, x.half() or aten.to.dtype(x, torch.float16)."""

    supports_higher_order_operators = True

    def __init__(self, narrow_draws: bool = True) -> None:
        """`narrow_draws`: random numbers are drawn by drawn(), which is wrong for a program that draws in float64."""
        super().__init__()
        self.narrow_draws = narrow_draws

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.narrow_draws and draws_otherwise(func):
            return drawn(func, args, kwargs)
        if isinstance(dtype := kwargs.get("dtype"), torch.dtype) and dtype.is_floating_point:
            kwargs = {**kwargs, "dtype": torch.float64}
        if isinstance(func, HigherOrderOperator):
            args = tuple(self.inside(value) if callable(value) else value for value in args)
        return func(*args, **kwargs)

    def inside(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function that a Higher Order Operator calls, such as the body of a loop, in this mode: while the
        operator runs, the mode is off."""

        @functools.wraps(body)
        def called(*args: Any, **kwargs: Any) -> Any:
            with self:
                return body(*args, **kwargs)

        return called


Memories = dict[tuple[int, torch.dtype], torch.Tensor]


def in_dtype(value: torch.Tensor, dtype: torch.dtype, memories: Memories | None = None) -> torch.Tensor:
    """Returns the tensor in another dtype, as a view of all its memory in that dtype: `to` closes gaps between
    elements, and an as_strided after it reads others. Views of one memory share it again, if they are given one dict
    of `memories`. A small part of a large memory is converted alone."""
    if value.layout != torch.strided or value.untyped_storage().nbytes() > 16 * value.nbytes:
        return value.to(dtype)
    memory = value.untyped_storage()
    memories = {} if memories is None else memories
    if (key := (memory.data_ptr(), value.dtype)) not in memories:
        memories[key] = value.as_strided((memory.nbytes() // value.itemsize,), (1,), 0).to(dtype)
    return memories[key].as_strided(value.shape, value.stride(), value.storage_offset())
