"""NumPy's functions in a graph of Dynamo's: objects that call torch._numpy on tensors, by a name that finds them again.

`fx_numpy.function.linalg.norm`, `fx_numpy.method.sum` and `fx_numpy.operator.add` are such objects; people write
`torch.as_tensor(np.linalg.norm(x.numpy()))`.
"""

import operator as operators
from typing import Any

import torch._numpy
from torch._dynamo import utils

FUNCTIONS = (utils.numpy_to_tensor_wrapper, utils.numpy_method_wrapper, utils.numpy_operator_wrapper)
"""The types of these objects."""
attribute = utils.numpy_attr_wrapper
MODULES = ("", "linalg.", "fft.", "random.")


class Names:
    """Has an object for each name of a module of NumPy's, of its methods, or of operators."""

    def __init__(self, kind: Any, place: Any = None) -> None:
        self.kind, self.place = kind, place

    def __getattr__(self, name: str) -> Any:
        if self.kind is utils.numpy_method_wrapper:
            return self.kind(name)
        found = getattr(self.place, name)
        return self.kind(found) if callable(found) else Names(self.kind, found)


function = Names(utils.numpy_to_tensor_wrapper, torch._numpy)
method = Names(utils.numpy_method_wrapper)
operator = Names(utils.numpy_operator_wrapper, operators)


def is_one(target: Any) -> bool:
    return target is attribute or isinstance(target, FUNCTIONS)


def name_of(target: Any) -> str:
    """The name of such an object in this module; an empty text for anything else."""
    if isinstance(target, utils.numpy_method_wrapper):
        return f"method.{target.method}"
    if isinstance(target, utils.numpy_operator_wrapper):
        name = target.op.__name__
        return f"operator.{name}" if getattr(operators, name, 0) is target.op else ""
    if isinstance(target, utils.numpy_to_tensor_wrapper):
        name = getattr(target.f, "__name__", "")
        for module in MODULES:
            place = getattr(torch._numpy, module[:-1]) if module else torch._numpy
            if getattr(place, name, None) is target.f:
                return f"function.{module}{name}"
    return ""
