"""The reference in float64 of a program that asks for other floating dtypes itself."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Wide(TorchDispatchMode):
    """Makes float64 of what is made in another floating-point dtype: of the rounding that a program asks for the
    reference has none, however it is written, x.half() or aten.to.dtype(x, torch.float16)."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if isinstance(dtype := kwargs.get("dtype"), torch.dtype) and dtype.is_floating_point:
            kwargs = {**kwargs, "dtype": torch.float64}
        return func(*args, **kwargs)


def in_dtype(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns a copy of all the memory that a tensor is a view of, seen in the same way: `to` closes gaps between
    elements, and an as_strided after it reads others. A small part of a large memory is copied alone."""
    if value.layout != torch.strided:
        return value.to(dtype)
    memory = value.untyped_storage().nbytes() // value.itemsize
    if memory > 16 * value.numel():
        return value.to(dtype)
    whole = value.as_strided((memory,), (1,), 0).to(dtype)
    return whole.as_strided(value.shape, value.stride(), value.storage_offset())
