"""Which calls of torch.fx have to keep their place: those that write, draw random numbers or change a mode; and which
values are plain numbers."""

import contextlib
import functools
import inspect
import operator
import types
from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch.fx import Node

UPDATES = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split()
IN_PLACE = {name: getattr(operator, name) for name in UPDATES}
GIVES_NUMBERS = {"size", "dim", "ndimension", "numel", "nelement", "item", "stride", "storage_offset", "element_size",
                 "tolist", "shape", "ndim"}  # fmt: skip
PURE_BUILTINS = "getattr abs min max sum len round float int bool pow divmod".split()
DRAWS = ("dropout", "gumbel", "multi_head", "fractional", "lowrank")  # beside what a schema says
DRAWS_OR_WRITES = (*DRAWS, "batch_norm", "instance_norm", "rrelu", "rand")
TORCH_MODULES = ("torch", "torch._C._nn", "torch._C._linalg", "torch._C._special", "torch._C._fft")


@functools.cache
def schemas(name: str) -> list[Any]:
    """The schemas of aten::NAME, none where there is no such operator."""
    found: list[Any] = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    return found


def is_builtin(target: Any) -> bool:
    """True for a function of PyTorch's own in C++, whose arguments are those of an operator of that name."""
    return (isinstance(target, (types.BuiltinFunctionType, types.BuiltinMethodType))
            and getattr(target, "__module__", None) in TORCH_MODULES and bool(schemas(target.__name__)))  # fmt: skip


@functools.cache
def is_seeded(name: str) -> bool:
    """True if an overload of the operator aten::NAME takes numbers from a generator."""
    packet = getattr(torch.ops.aten, name, None)
    overloads = packet.overloads() if isinstance(packet, torch._ops.OpOverloadPacket) else []
    return any(torch.Tag.nondeterministic_seeded in getattr(packet, overload).tags for overload in overloads)


def draws(name: str) -> bool:
    """True if a function may take numbers from a generator."""
    return any(word in name for word in DRAWS) or is_seeded(name)


def draws_or_writes(name: str) -> bool:
    """True if an operator of ATen may draw random numbers, or writes what its schema does not say."""
    return any(word in name for word in DRAWS_OR_WRITES) or is_seeded(name)


def called_name(node: Node) -> str:
    """The plain name of a function, a method, or an operator: "mul" for torch.mul, x.mul and aten.mul.Tensor."""
    return str(node.target) if node.op == "call_method" else name_of(node.target)


def name_of(target: Any) -> str:
    """The same for a function or an operator."""
    return str(target._schema.name.split("::")[1] if hasattr(target, "_schema") else getattr(target, "__name__", ""))


def has_effect(node: Node) -> bool:
    """True for a call that must run in its place among all others. It says so too of what it does not know."""
    if node.op in ("placeholder", "get_attr", "output"):
        return False
    if node.kwargs.get("out") is not None:
        return True
    if node.op == "call_method":
        name = str(node.target)
        in_c = type(getattr(torch.Tensor, name, None)).__name__ == "method_descriptor"
        known = bool(schemas(name)) or in_c
        return not known or name.endswith("_") or draws_or_writes(name) or any(map(writes_positionally, schemas(name)))
    target: Any = node.target
    if isinstance(target, torch._ops.OpOverload):
        return target.namespace != "aten" or target._schema.is_mutable or draws_or_writes(called_name(node))
    name, module = getattr(target, "__name__", ""), getattr(target, "__module__", None)
    if module == "_operator":
        return name in IN_PLACE or name in ("setitem", "delitem", "iconcat", "imatmul")
    if module == "math":
        return False
    if module == "builtins":
        return name not in PURE_BUILTINS
    if is_builtin(target):
        return name.endswith("_") or draws_or_writes(name) or any(map(writes_positionally, schemas(name)))
    if module in ("torch.functional", "torch.nn.functional"):
        return name.endswith("_") or draws_or_writes(name) or writes_by_argument(node)
    return True


def writes_positionally(schema: Any) -> bool:
    """True if an operator writes an argument other than the keyword `out`."""
    written = (a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write)
    return any(not argument.kwarg_only for argument in written)


def writes_by_argument(node: Node) -> bool:
    """True if a function in Python may be told by its arguments to write or to draw."""
    target: Any = node.target
    try:
        bound = inspect.signature(target).bind(*node.args, **node.kwargs).arguments
    except (TypeError, ValueError):
        return True
    return bool(bound.get("inplace")) or bound.get("max_norm") is not None or bound.get("out") is not None


def is_in_place(node: Node) -> bool:
    """True if the call writes its first argument and gives that very argument back."""
    if not node.args or not isinstance(node.args[0], Node):
        return False
    if node.op == "call_method":
        name = str(node.target)
        return name.endswith("_") and not name.startswith("_") and hasattr(torch.Tensor, name)
    if is_augmented(node):
        return True
    target: Any = node.target
    if isinstance(target, torch._ops.OpOverload):
        return target.namespace == "aten" and gives_first(target._schema)
    name = getattr(target, "__name__", "")
    return is_builtin(target) and name.endswith("_") and all(map(gives_first, schemas(name)))


def gives_first(schema: Any) -> bool:
    """True if the only result is the first argument, written."""
    if len(schema.returns) != 1 or not schema.arguments or str(schema.returns[0].type) != "Tensor":
        return False
    given, first = schema.returns[0].alias_info, schema.arguments[0].alias_info
    return bool(given and first and first.is_write and given.before_set == first.before_set)


def is_augmented(node: Node) -> bool:
    """True for `x += y` and its like."""
    return node.op == "call_function" and IN_PLACE.get(getattr(node.target, "__name__", "")) is node.target


class Numbers:
    """Tells plain numbers, and lists of them, from tensors. `named` are placeholders known to be numbers."""

    def __init__(self, named: Collection[str]) -> None:
        self.named = named
        self.known: dict[Node, bool] = {}

    def has(self, value: Any) -> bool:
        if not isinstance(value, Node):
            return isinstance(value, (bool, int, float, complex))
        if value not in self.known:
            self.known[value] = self.look(value)
        return self.known[value]

    def look(self, node: Node) -> bool:
        example = node.meta.get("example_value", node.meta.get("val"))
        if example is not None:
            return not isinstance(example, torch.Tensor)
        if node.op == "placeholder":
            return node.name in self.named or node.target in self.named
        if node.op == "call_method":
            return node.target in GIVES_NUMBERS
        name = getattr(node.target, "__name__", "")
        if node.target is getattr:
            return node.args[1] in GIVES_NUMBERS
        if getattr(node.target, "__module__", None) not in ("_operator", "builtins", "math"):
            return name.startswith("sym_") or name in GIVES_NUMBERS
        if node.target is operator.getitem:
            return self.has(node.args[0])
        return all(self.has(argument) for argument in node.args)


def bits_of(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a copy of its bytes."""
    return tensor.detach().clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


@contextlib.contextmanager
def writes_noticed(target: Any, tensors: list[torch.Tensor]) -> Iterator[None]:
    """Gives a tensor that a call within writes to unseen a new version, as every other write does. A batch norm in
    training writes its running statistics so, and a kernel of the user's may."""
    name = target if isinstance(target, str) else name_of(target)
    schema = getattr(target, "_schema", None)
    is_suspect = "batch_norm" in name or (schema is not None and schema.is_mutable and target.namespace != "aten")
    plain = [tensor for tensor in tensors if is_suspect and tensor.layout == torch.strided and not tensor.is_quantized]
    before = [(tensor, tensor._version, bits_of(tensor)) for tensor in plain]
    yield
    for tensor, version, bits in before:
        if tensor._version == version and not torch.equal(bits_of(tensor), bits):
            torch.autograd.graph.increment_version(tensor)
