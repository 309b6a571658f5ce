"""How an operator of TorchScript is called from Python, and how what it is called with is written down."""

import keyword
import re

import torch

from tensor_text import number
from words import schema_of


class Untranslatable(Exception):
    """The graph has something that Python source cannot say; the message names it."""


# Functions that make Tensors of plain values: TorchScript's operators for them are none that Dynamo knows.
MADE = {"aten::tensor": "tensor", "aten::as_tensor": "as_tensor", "aten::_list_to_tensor": "tensor"}


def attribute_name(name):
    """Returns the attribute for a parameter or buffer of that name in a torch.nn.Module, which has names of its own."""
    if not name.isidentifier():
        raise Untranslatable(f"{name!r} is no name in Python")
    return name + "_" if keyword.iskeyword(name) or hasattr(torch.nn.Module, name) else name


def enum_name(node):
    return re.search(r"value=([\w.]+)", str(node)).group(1)


# Operators that have no overload for a number in Python: `x + 1` is aten.add.Tensor there, and TorchInductor looks for
# additions by that name.
TENSOR_ONLY = {f"aten::{name}{place}" for name in ("add", "sub", "mul", "div") for place in ("", "_")}
FOR_NUMBERS = {"Scalar": "Tensor", "Scalar_mode": "Tensor_mode"}


# `x.view(torch.int32)`, which TorchScript has no other name for: what users call it is aten.view.dtype.
DTYPE_VIEW = "prims::view_of_dtype"


def function(node):
    """The OpOverload that Python calls; its text is aten.add.Tensor."""
    namespace, name = node.kind().split("::")
    overload = schema_of(node).overload_name or "default"
    if node.kind() == DTYPE_VIEW:
        return torch.ops.aten.view.dtype
    if node.kind() in TENSOR_ONLY:
        overload = FOR_NUMBERS.get(overload, overload)
    packet = getattr(getattr(torch.ops, namespace), name, None)
    if packet is None or not hasattr(packet, overload):
        raise Untranslatable(f"{namespace}::{name}.{overload} is not among torch.ops")
    return getattr(packet, overload)


def call(node):
    """(positional operands, operands by name), each an index.

    As short as they can be: what equals its default is left out from the right, or by name.
    """
    positional, by_name = [], {}
    for index, (argument, value) in enumerate(zip(schema_of(node).arguments, node.inputs())):
        default = is_default(argument, value)
        by_name_only = argument.kwarg_only or node.kind() in TENSOR_ONLY and argument.name == "alpha"
        if not by_name_only:
            positional.append((index, default))
        elif not default:
            by_name[argument.name] = index
    while positional and positional[-1][1]:
        positional.pop()
    return [index for index, _ in positional], by_name


def is_default(argument, value):
    if value.node().kind() != "prim::Constant" or not argument.has_default_value():
        return False
    given = value.toIValue()
    return (
        not isinstance(given, torch.Tensor)
        and type(given) is type(argument.default_value)
        and (given == argument.default_value)
    )


def literal(value, held):
    """Returns a Python literal of a constant. `held(value)` gives the text for a Tensor or an object of a C++ class.
    Raises Untranslatable for a constant that has no literal."""
    if isinstance(value, (torch.Tensor, torch.ScriptObject)):
        return held(value)
    if isinstance(value, (list, tuple)):
        parts = [literal(part, held) for part in value]
        if isinstance(value, list):
            return "[" + ", ".join(parts) + "]"
        return "(" + "".join(part + ", " for part in parts).rstrip(" ") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k, held)}: {literal(v, held)}" for k, v in value.items()) + "}"
    if isinstance(value, (float, complex)):
        return number(value)
    if isinstance(value, torch.device):
        return f"torch.device('{value}')"
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    raise Untranslatable(f"a constant of type {type(value).__name__} has no literal")


def require_literal(value):
    """Raises Untranslatable for a constant that has no literal, and is no Tensor or object of a C++ class."""
    literal(value, lambda _: "")


def graph_of(script):
    """Returns the graph of a ScriptModule's forward, calls inlined."""
    graph = script._c._get_method("forward").graph.copy()
    torch._C._jit_pass_inline(graph)
    return graph
