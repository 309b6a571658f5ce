"""A third opinion on what a program should give: NumPy's functions of the same names.

    agrees(module, arguments, found, expected)   # True if NumPy gives `expected`, and not `found`

Most operators of PyTorch are meant to do what NumPy's do. A graph that calls anything else, and a disagreement with
eager, says nothing.
"""

import operator
import warnings
from typing import Any

import numpy
import torch
from torch.fx import GraphModule, Interpreter
from torch.utils import _pytree as pytree

import explanation
import fx_effects

NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "atan2": "arctan2", "cat": "concatenate", "clamp": "clip", "clone": "copy", "div": "divide", "mul": "multiply",
    "sub": "subtract", "neg": "negative", "pow": "power", "mm": "matmul", "bmm": "matmul", "permute": "transpose",
    "unsqueeze": "expand_dims", "ge": "greater_equal", "gt": "greater", "le": "less_equal", "lt": "less", "eq": "equal",
    "ne": "not_equal", "bitwise_not": "invert",
}  # fmt: skip
KEYWORDS = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof"}
CONVERSIONS = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64",
               "short": "int16", "bool": "bool"}  # fmt: skip


class Unknown(Exception):
    """NumPy has no function of this name."""


def agrees(module: GraphModule, arguments: list[Any], found: explanation.Outcome,
           expected: explanation.Outcome) -> bool:  # fmt: skip
    """`found` and `expected` are as explanation.Side.outcome() gives them."""
    if found is None or expected is None:
        return False
    try:
        given = pytree.tree_map(as_numpy, arguments)
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = pytree.tree_leaves(OfNumpy(module).run(*given))
        made = [as_torch(leaf) for leaf in results]
    except Exception:  # whatever it is, it is no opinion
        return False
    return explanation.same(made, expected[: len(made)]) and not explanation.same(made, found[: len(made)])


class OfNumpy(Interpreter):
    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        return as_numpy(super().get_attr(target, args, kwargs))

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        return called(str(target), args, kwargs)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target in vars(operator).values():
            return target(*args, **kwargs)
        return called(fx_effects.name_of(target), args, kwargs)


def called(name: str, args: Any, kwargs: Any) -> Any:
    args, kwargs = pytree.tree_map(as_numpy, (args, kwargs))
    if name in CONVERSIONS:
        return args[0].astype(CONVERSIONS[name])
    if name == "to" and len(args) == 2 and isinstance(args[1], numpy.dtype):
        return args[0].astype(args[1])
    args = [tuple(each) if isinstance(each, list) and all(isinstance(x, int) for x in each) else each for each in args]
    function: Any = getattr(numpy, NAMES.get(name, name), None)
    if not callable(function):
        raise Unknown(name)
    return function(*args, **{KEYWORDS.get(key, key): value for key, value in kwargs.items() if value is not None})


def as_numpy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().numpy().copy()
    if isinstance(value, torch.dtype):
        return torch.empty(0, dtype=value).numpy().dtype
    return value


def as_torch(value: Any) -> Any:
    return torch.from_numpy(numpy.array(value)) if isinstance(value, (numpy.ndarray, numpy.generic)) else value
