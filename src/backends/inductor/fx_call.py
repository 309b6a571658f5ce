"""Calls of torch.fx inside a TorchScript graph: how a program in the FX dialect is held, saved and sent.

A call of anything that Python can name is a node `fx::KIND(str call, ...)`. `call` is JSON: what is called, and where
its operands stand among the arguments. The operands follow: tensors, lists of tensors, and plain numbers and texts,
which are constants of the graph and can be edited there. KIND says what the call gives:

    tensor   one Tensor           tensors  a list or tuple of Tensors, as Tensor[]
    int, float, bool              effect   nothing: it is called for what it writes

and ends in "_" where the call was seen to write to what it was given (`effect` always does). TorchScript may leave out
a call without "_" that nothing reads, and no other.

JSON: {"f": "torch.cat", "a": [FORM...], "k": {NAME: FORM}}, with "m" for the name of a method in the place of "f". A
FORM is {"%": N} (operand N), a list, or one of {"tuple": [...]}, {"dict": [[KEY, VALUE]...]}, {"slice": [start, stop,
step]}, {"torch": "float32"} (a dtype, layout or memory format), {"device": "cpu"}, {"float": "inf"}, {"int": "..."},
{"complex": [REAL, IMAGINARY]}, {"ellipsis": 1}, {"none": 1}, {"text": "\\u00e9"} (one that is not printable ASCII,
which TorchScript does not keep).
"""

import builtins
import importlib
import json
import math
from typing import Any

import torch

KINDS = {"tensor": "Tensor", "tensors": "Tensor[]", "int": "int", "float": "float", "bool": "bool"}


class NoForm(Exception):
    """Raised for a call that has no form here; the message says what has none."""


def define_calls() -> torch.library.Library:
    """Makes the kinds known to TorchScript in this process. The library that is returned has to live as long."""
    library = torch.library.Library("fx", "DEF")
    for kind, gives in KINDS.items():
        library.define(f"{kind}(str call, ...) -> {gives}")
        library.define(f"{kind}_(str call, ...) -> {gives}", alias_analysis="CONSERVATIVE")
    library.define("effect_(str call, ...) -> ()", alias_analysis="CONSERVATIVE")
    return library


LIBRARY = define_calls()


def name_of(target: Any) -> str:
    """The dotted name under which importing finds a function again. Raises NoForm where there is none."""
    if isinstance(target, torch._ops.OpOverload):
        return f"torch.ops.{target}"
    if isinstance(target, torch._ops.OpOverloadPacket):
        return f"torch.ops.{target}"
    if isinstance(target, torch._ops.HigherOrderOperator):
        raise NoForm(f"the higher-order operator {target.name()}")
    name = getattr(target, "__name__", "")
    for place in ("torch", "torch.nn.functional", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special"):
        if getattr(resolve_or_none(place), name, None) is target:
            return f"{place}.{name}"
    for module in (getattr(target, "__module__", None), "torch._C._nn", "torch._C"):
        if module in ("_operator", "operator"):
            module = "operator"
        dotted = f"{module}.{getattr(target, '__qualname__', name)}"
        if module and resolve_or_none(dotted) is target:
            return dotted
    raise NoForm(f"{name or type(target).__name__}, which cannot be imported by a name")


def resolve_or_none(name: str) -> Any:
    try:
        return resolve(name)
    except (ImportError, AttributeError):
        return None


def resolve(name: str) -> Any:
    """Returns what a dotted name stands for. Raises ImportError or AttributeError."""
    if name.startswith("torch.ops."):
        place: Any = torch.ops
        for word in name.split(".")[2:]:
            place = getattr(place, word)
        return place
    words = name.split(".")
    for size in range(len(words), 0, -1):
        try:
            place = importlib.import_module(".".join(words[:size]))
        except ModuleNotFoundError:
            continue
        for word in words[size:]:
            place = getattr(place, word)
        return place
    return getattr(builtins, name)


class Encoder:
    """Takes the arguments of a call apart: forms, and the operands that they name."""

    def __init__(self) -> None:
        self.operands: list[Any] = []

    def operand(self, value: Any) -> Any:
        for place, known in enumerate(self.operands):
            if known is value and isinstance(value, torch.fx.Node):
                return {"%": place}
        self.operands.append(value)
        return {"%": len(self.operands) - 1}

    def form(self, value: Any) -> Any:
        if value is None:
            return {"none": 1}
        if isinstance(value, str) and not (value.isascii() and value.isprintable()):
            return {"text": value}
        if isinstance(value, (torch.fx.Node, bool, str)):
            return self.operand(value)
        if isinstance(value, int):
            return self.operand(value) if -(2**63) <= value < 2**63 else {"int": str(value)}
        if isinstance(value, float):
            return self.operand(value) if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, complex):
            return {"complex": [str(value.real), str(value.imag)]}
        if isinstance(value, list):
            return [self.form(part) for part in value]
        if isinstance(value, tuple):
            if type(value) not in (tuple, torch.Size) and not hasattr(value, "_fields"):
                raise NoForm(f"an argument of type {type(value).__name__}")
            return {"tuple": [self.form(part) for part in value]}
        if isinstance(value, dict):
            return {"dict": [[self.form(key), self.form(part)] for key, part in value.items()]}
        if isinstance(value, slice):
            return {"slice": [self.form(part) for part in (value.start, value.stop, value.step)]}
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return {"torch": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if value is ...:
            return {"ellipsis": 1}
        raise NoForm(f"an argument of type {type(value).__name__}")


def encode(node: torch.fx.Node) -> tuple[str, list[Any]]:
    """The call of a node as JSON, and its operands. Raises NoForm."""
    encoder = Encoder()
    if node.op == "call_method":
        call: dict[str, Any] = {"m": node.target}
    elif node.op == "call_function":
        call = {"f": name_of(node.target)}
    else:
        raise NoForm(f"a node of the kind {node.op}")
    call["a"] = [encoder.form(argument) for argument in node.args]
    if node.kwargs:
        call["k"] = {name: encoder.form(argument) for name, argument in node.kwargs.items()}
    return json.dumps(call, separators=(",", ":")), encoder.operands


def value_of(form: Any, operands: list[Any]) -> Any:
    """The argument that a FORM stands for."""
    if isinstance(form, list):
        return [value_of(part, operands) for part in form]
    ((kind, content),) = form.items()
    if kind == "%":
        return operands[content]
    if kind == "tuple":
        return tuple(value_of(part, operands) for part in content)
    if kind == "dict":
        return {value_of(key, operands): value_of(part, operands) for key, part in content}
    if kind == "slice":
        return slice(*(value_of(part, operands) for part in content))
    if kind == "torch":
        return getattr(torch, content)
    return {
        "device": torch.device,
        "float": float,
        "int": int,
        "text": str,
        "complex": lambda parts: complex(float(parts[0]), float(parts[1])),
        "ellipsis": lambda _: ...,
        "none": lambda _: None,
    }[kind](content)


class Call:
    """A call, taken out of its JSON: `target` is a function, or the name of a method."""

    def __init__(self, text: str, operands: list[Any]) -> None:
        call = json.loads(text)
        self.is_method = "m" in call
        self.target = call["m"] if self.is_method else resolve(call["f"])
        self.args = tuple(value_of(form, operands) for form in call["a"])
        self.kwargs = {name: value_of(form, operands) for name, form in call.get("k", {}).items()}

    @property
    def op(self) -> str:
        return "call_method" if self.is_method else "call_function"

    @property
    def detaches(self) -> bool:
        """True if what it gives has no gradients, whatever its operands have."""
        return "detach" in (self.target if self.is_method else getattr(self.target, "__name__", ""))

    def run(self) -> Any:
        if self.is_method:
            return getattr(self.args[0], self.target)(*self.args[1:], **self.kwargs)
        return self.target(*self.args, **self.kwargs)


def kind_of(result: Any) -> str:
    """The kind of a call that gave this. Raises NoForm."""
    if isinstance(result, torch.Tensor):
        return "tensor"
    if isinstance(result, (list, tuple)) and result and all(isinstance(part, torch.Tensor) for part in result):
        return "tensors"
    if result is None or isinstance(result, (list, tuple)) and not result:
        return "effect_"
    for kind, known in (("bool", bool), ("int", int), ("float", float)):
        if isinstance(result, known):
            return kind
    raise NoForm(f"a result of type {type(result).__name__}")
