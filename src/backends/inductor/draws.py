"""Random numbers in a reference in float64: those that eager draws."""

from typing import Any

import torch
from torch.utils import _pytree as pytree

# Operators that draw floating-point numbers, or decide by some; dropout and randint give the same in either dtype.
DRAWING = {"rand", "rand_like", "randn", "randn_like", "normal", "uniform", "exponential", "cauchy", "log_normal"}
DRAWING |= {"bernoulli", "multinomial", "poisson"}


def draws_otherwise(func: Any) -> bool:
    """True for an operator that draws other numbers in float64 than in float32."""
    name = getattr(getattr(func, "_schema", None), "name", "")
    known = name.startswith("aten::") and name.removeprefix("aten::").rstrip("_") in DRAWING
    return known and not any(argument.is_out for argument in func._schema.arguments)


def drawn(func: Any, args: Any, kwargs: Any) -> Any:
    """Draws in float32, which most programs compute in, and widens what that gives: with numbers of its own the
    reference would be as far from eager as from any result, and let a wrong one pass."""

    def narrow(value: Any) -> Any:
        return value.float() if isinstance(value, torch.Tensor) and value.dtype == torch.float64 else value

    def wide(value: Any) -> Any:
        return value.double() if isinstance(value, torch.Tensor) and value.dtype == torch.float32 else value

    if kwargs.get("dtype") == torch.float64:  # PyTorch's own widening has been there
        kwargs = {**kwargs, "dtype": torch.float32}
    if func._schema.name.endswith("_") and args[0].dtype == torch.float64:
        beside = args[0].new_empty_strided(args[0].shape, args[0].stride(), dtype=torch.float32)
        func(beside, *pytree.tree_map(narrow, args[1:]), **pytree.tree_map(narrow, kwargs))
        return args[0].copy_(beside)
    return pytree.tree_map(wide, func(*pytree.tree_map(narrow, args), **pytree.tree_map(narrow, kwargs)))
