"""The arguments of calls as PyTorch's documentation has them: keywords where a value alone says nothing, defaults left
out."""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.fx import Node

import fx_effects

MISSING = inspect.Parameter.empty
POOLS = {f"{kind}_pool{n}d" for kind in ("avg", "max", "lp") for n in (1, 2, 3)}


class Parameter(NamedTuple):
    name: str
    type: str  # that of a schema; "Any" for a function in Python
    default: Any
    keyword_only: bool
    size: int | None  # the number of ints, where one int stands for all of them


Signature = tuple[Parameter, ...]
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


@functools.cache
def of_operator(name: str) -> tuple[Signature, ...]:
    """The signatures of aten::NAME that Python can call on tensors."""
    found = (of_schema(schema) for schema in fx_effects.schemas(name))
    return tuple(one for one in found if not one or "str" not in one[0].type)


def of_schema(schema: Any) -> Signature:
    return tuple(
        Parameter(
            argument.name,
            str(argument.real_type),
            argument.default_value if argument.has_default_value() else MISSING,
            argument.kwarg_only,
            argument.N,
        )
        for argument in schema.arguments
    )


def of_python(function: Callable[..., Any]) -> tuple[Signature, ...]:
    """The signature of a function in Python; none where it takes what it likes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    if any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in parameters):
        return ()
    return (tuple(Parameter(p.name, "Any", p.default, p.kind == p.KEYWORD_ONLY, None) for p in parameters),)


def of_function(target: Any) -> tuple[Signature, ...]:
    """The signatures of a function of PyTorch; none for any other."""
    if fx_effects.is_builtin(target):
        return of_operator(target.__name__)
    if getattr(target, "__module__", "") in ("torch.functional", "torch.nn.functional"):
        return of_python(target) or of_operator(getattr(target, "__name__", ""))
    return ()


def bind(signature: Signature, arguments: Arguments) -> dict[str, Any] | None:
    """Each argument by the name of its parameter; None where they do not fit."""
    args, kwargs = arguments
    positional = [parameter.name for parameter in signature if not parameter.keyword_only]
    if len(args) > len(positional):
        return None
    bound = dict(zip(positional, args))
    own_name = signature[0].name if signature else ""
    for name, value in kwargs.items():
        name = own_name if name == "input" and own_name == "self" else name
        if name in bound:
            return None
        bound[name] = value
    known = {parameter.name for parameter in signature}
    if not known.issuperset(bound) or any(p.default is MISSING and p.name not in bound for p in signature):
        return None
    fitting = all(fits(bound[p.name], p.type, p.size) for p in signature if p.name in bound)
    return bound if fitting else None


def fits(value: Any, kind: str, size: int | None = None) -> bool:
    """True if a parameter of this type may be given the value; a node may be any tensor, number or list."""
    if kind == "Any":
        return True
    if kind.startswith("Optional["):
        return value is None or fits(value, kind[9:-1], size)
    if isinstance(value, Node):
        return kind not in ("str", "ScalarType", "Device", "Layout", "MemoryFormat")
    if kind.startswith("List["):
        if isinstance(value, (list, tuple)):
            return all(fits(part, kind[5:-1]) for part in value)
        return size is not None and fits(value, kind[5:-1])
    kinds: dict[str, Any] = {
        "bool": bool, "int": int, "float": (int, float), "number": (bool, int, float, complex),
        "Tensor": (), "str": str, "ScalarType": torch.dtype, "Device": (torch.device, str), "Layout": torch.layout,
        "MemoryFormat": torch.memory_format,
    }  # fmt: skip
    return isinstance(value, kinds.get(kind, ())) and (kind not in ("int", "float") or not isinstance(value, bool))


def equals_default(value: Any, parameter: Parameter) -> bool:
    default = parameter.default
    if default is MISSING or isinstance(value, Node) or is_reduction(parameter):
        return False
    if parameter.type.removeprefix("Optional[").startswith("List["):
        parts, wanted = listed(value, parameter.size), listed(default, parameter.size)
        if parts is None or wanted is None:
            return value is None and default is None
        return not any(isinstance(part, Node) for part in parts) and repr(parts) == repr(wanted)
    if parameter.type == "float" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    return type(value) is type(default) and repr(value) == repr(default)


def is_reduction(parameter: Parameter) -> bool:
    """True for how a loss is reduced, as a number: its default in Python is not that of the schema."""
    return parameter.name == "reduction" and parameter.type == "int"


def listed(value: Any, size: int | None) -> list[Any] | None:
    if isinstance(value, (list, tuple)):
        return list(value)
    return [value] * size if size is not None and value is not None else None


def tidy(arguments: Arguments, signatures: tuple[Signature, ...], name: str) -> Arguments:
    """The same arguments as a person writes them; as they are where the signatures that they fit disagree. `name` is
    that of the function."""
    found: list[Arguments] = []
    for signature in signatures:
        bound = bind(signature, arguments)
        if bound is not None:
            tidied = tidy_bound(signature, bound, len(arguments[0]), name)
            if not any(repr(tidied) == repr(other) for other in found):
                found.append(tidied)
    return found[0] if len(found) == 1 else arguments


def tidy_bound(signature: Signature, bound: dict[str, Any], positional: int, name: str) -> Arguments:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    in_place = True  # nothing before it was left out or named
    values = {p.name: narrow(bound[p.name], p) for p in signature if p.name in bound}
    factory = not any("Tensor" in parameter.type for parameter in signature)
    for at, parameter in enumerate(signature):
        if parameter.name not in values or equals_default(values[parameter.name], parameter):
            in_place = False
            continue
        value = values[parameter.name]
        if says_nothing(parameter, value, factory):
            continue
        if name in POOLS and parameter.name == "stride" and repr(value) == repr(values.get("kernel_size")):
            in_place = False
            continue
        optional = parameter.default is not MISSING
        speaks = not optional or not (isinstance(value, (bool, str)) or value is None)
        if in_place and not parameter.keyword_only and (at < positional and speaks or at == 0):
            args.append(value)
        else:
            in_place = False
            kwargs[parameter.name] = value
    return tuple(args), kwargs


def says_nothing(parameter: Parameter, value: Any, factory: bool) -> bool:
    """True for what a new tensor is without being told; `factory` if it is made after no other."""
    if parameter.name == "device" and factory:
        return isinstance(value, (torch.device, str)) and torch.device(value) == torch.device("cpu")
    plain_layout = parameter.name == "layout" and value is torch.strided and factory
    return plain_layout or parameter.name == "pin_memory" and value is False


def narrow(value: Any, parameter: Parameter) -> Any:
    """One int where a list has that int at each of its places."""
    if parameter.size is None or not isinstance(value, (list, tuple)) or len(value) != parameter.size:
        return value
    if any(type(part) is not int for part in value) or len(set(value)) != 1:
        return value
    return value[0]


class PublicForm(NamedTuple):
    """The name that users call in the place of an overload of ATen: a method of the first argument, or a function."""

    method: bool
    name: str


METHODS = set(
    "view reshape permute transpose unsqueeze squeeze expand expand_as view_as contiguous clone detach to t flatten "
    "unflatten repeat unfold sum mean amax amin max min argmax argmin any all cumsum cumprod select narrow masked_fill "
    "gather scatter scatter_add index_add split chunk unbind type_as new_zeros new_ones new_full new_empty item "
    "diagonal roll prod std var flip sort topk numel size".split()
)
FUNCTIONAL = {"layer_norm", "group_norm", "embedding"}  # torch has them too, and does not document them there
WRITTEN_IN_PYTHON = {"split"}  # methods in Python that take the same


def public_form(overload: torch._ops.OpOverload, arguments: Arguments) -> PublicForm | None:
    """None where no public function or method is sure to take the same arguments with the same meaning."""
    schema = overload._schema
    name = schema.name.removeprefix("aten::")
    signature = of_schema(schema)
    if name == "copy_":
        return PublicForm(True, name)
    indices = arguments[0][1] if name.startswith("index_put") and len(arguments[0]) > 1 else ()
    if isinstance(indices, (list, tuple)) and None in indices:  # Python's binding takes no None
        return None
    if overload.namespace != "aten" or name.startswith("_") or is_ambiguous(name, signature, arguments):
        return None
    if any(map(is_reduction, signature)) or name == "to" and any(p.name == "layout" for p in signature):
        return None
    function = public_function(name, signature, arguments)
    method = getattr(torch.Tensor, name, None)
    has_method = (bool(arguments[0]) and isinstance(arguments[0][0], Node) and signature[0].type == "Tensor"
                  and signature[0].name == "self" and arguments[1].get("out") is None
                  and (type(method).__name__ == "method_descriptor" or name in WRITTEN_IN_PYTHON))  # fmt: skip
    if has_method and (name in METHODS or name.endswith("_") or function is None):
        return PublicForm(True, name)
    return PublicForm(False, function) if function else None


def sizes_of(value: Any) -> tuple[int, ...] | None:
    """None where they are not known."""
    if not isinstance(value, Node):
        return None
    example = value.meta.get("example_value", value.meta.get("val"))
    known = value.meta.get("sizes", getattr(example, "shape", None))
    return None if known is None else tuple(known)


def is_of_one_value(name: str, arguments: Arguments) -> bool:
    """True for a normalisation of one value a channel, which torch.nn.functional refuses and the operator takes."""
    args, _ = arguments
    sizes = sizes_of(args[0]) if name == "group_norm" and len(args) > 1 and type(args[1]) is int else None
    return sizes is not None and math.prod((sizes[0] * sizes[1] // args[1], *sizes[2:])) == 1


def public_function(name: str, signature: Signature, arguments: Arguments) -> str | None:
    functional = getattr(torch.nn.functional, name, None)
    if functional is not None:
        if fx_effects.is_builtin(functional) and functional.__name__ == name:
            return f"torch.nn.functional.{name}"
        alone = not fx_effects.is_builtin(getattr(torch, name, None))
        documented = alone or (name in FUNCTIONAL and not is_of_one_value(name, arguments))
        if documented and takes_the_same(functional, signature) and not extra(functional, signature, arguments):
            return f"torch.nn.functional.{name}"
    if fx_effects.is_builtin(getattr(torch, name, None)) and getattr(torch, name).__name__ == name:
        return f"torch.{name}"
    for place in ("linalg", "fft", "special"):
        short = name.removeprefix(f"{place}_")
        if short != name and getattr(getattr(getattr(torch, place), short, None), "__name__", "") == name:
            return f"torch.{place}.{short}"
    return None


def takes_the_same(function: Any, signature: Signature) -> bool:
    """True if a function in Python has the parameters of the operator, in their order and with their defaults; the
    operator may have more at the end."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if parameters[-1:] and parameters[-1].name == "inplace" and parameters[-1].default is False:
        parameters.pop()
    pairs = list(zip(parameters, signature))
    return len(parameters) <= len(signature) and all(
        p.name in (s.name, "input") and repr(p.default) == repr(s.default) for p, s in pairs
    )


def extra(function: Any, signature: Signature, arguments: Arguments) -> bool:
    """True if the call says something that the function in Python, with fewer parameters, cannot be told."""
    bound = bind(signature, arguments) or {}
    more = signature[len(inspect.signature(function).parameters) :]
    return any(p.name in bound and not equals_default(bound[p.name], p) for p in more)


def is_ambiguous(name: str, signature: Signature, arguments: Arguments) -> bool:
    """True if the operator's public name could take these arguments as another overload."""
    bound = bind(signature, arguments)
    if bound is None:
        return True
    declared = {parameter.name: parameter.type for parameter in signature}
    of_place = [declared[p.name] for p in signature if not p.keyword_only]
    for other in of_operator(name):
        taken = bind(other, arguments)
        if taken is None or list(taken) == list(bound):  # values of the same names mean the same
            continue
        kinds = {p.name: p.type for p in other}
        places = [p.type for p in other if not p.keyword_only]
        alike = all(
            alike_for(value, mine, theirs) for value, mine, theirs in zip(arguments[0], of_place, places)
        ) and all(alike_for(arguments[1][key], declared[key], kinds.get(key, "")) for key in arguments[1])
        if alike:
            return True
    return False


def alike_for(value: Any, mine: str, theirs: str) -> bool:
    """True if a value of the type `mine` could be taken for one of the type `theirs`, with another meaning than as a
    number for a tensor."""
    if not isinstance(value, Node):
        return True
    return mine.removeprefix("Optional[").rstrip("]") == theirs.removeprefix("Optional[").rstrip("]")
