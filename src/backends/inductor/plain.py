"""Operators of TorchScript on plain values (numbers, strings, lists, dicts), and those that read such a value from a
Tensor: each as a piece of Python, which Dynamo computes while it traces.

A pattern is text with a {} for each operand.
"""

import re

import torch

from words import schema_of

COMPARED = {"eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}"}
ANY = {"__is__": "{} is {}", "__isnot__": "{} is not {}", "__not__": "not {}", "_unwrap_optional": "{}"}
NUMBERS = {
    **COMPARED, "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "remainder": "{} % {}",
    "neg": "-{}", "__and__": "{} & {}", "__or__": "{} | {}", "__xor__": "{} ^ {}", "__lshift__": "{} << {}",
    "__rshift__": "{} >> {}", "Int": "int({})", "Float": "float({})", "Bool": "bool({})", "round": "float(round({}))",
    "__range_length": "len(range({}, {}, {}))", "__derive_index": "{1} + {0} * {2}", "abs": "abs({})", "chr": "chr({})",
    "hex": "hex({})", "oct": "oct({})", "bin": "bin({})", "polar": "cmath.rect({}, {})", "angle": "cmath.phase({})",
    "real": "{}.real", "imag": "{}.imag", "conj": "{}.conjugate()", "__round_to_zero_floordiv": "math.trunc({} / {})",
    "mathremainder": "math.remainder({}, {})", "gamma": "math.gamma({})", "item": "{}", "manual_seed":
    "torch.manual_seed({})", "set_grad_enabled": "torch._C._set_grad_enabled({})",
}  # fmt: skip
MATHEMATICS = set(
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees erf erfc exp expm1 fabs factorial floor "
    "fmod frexp gcd isfinite isinf isnan ldexp lgamma log log10 log1p modf radians sin sinh sqrt tan tanh trunc".split()
)
LISTS = {
    **COMPARED, "append": "{}.append({})", "extend": "{}.extend({})", "insert": "{}.insert({}, {})",
    "pop": "{}.pop({})",
    "remove": "{}.remove({})", "reverse": "{}.reverse()", "sort": "{}.sort(reverse={})", "clear": "{}.clear()",
    "Delete": "del {}[{}]", "_set_item": "{}[{}] = {}", "add_": "{}.extend({})", "mul_": "{0}[:] = {0} * {1}",
    "len": "len({})", "__getitem__": "{}[{}]", "select": "{}[{}]", "slice": "{}[{}:{}:{}]", "copy": "list({})",
    "list": "list({})", "Size": "list({})", "add": "{} + {}", "mul": "{} * {}", "__contains__": "{1} in {0}",
    "index": "{}.index({})", "count": "{}.count({})", "sorted": "sorted({})", "sum": "sum({})", "all": "all({})",
    "any": "any({})", "dict": "dict({})",
}  # fmt: skip
DICTS = {
    "keys": "list({}.keys())", "values": "list({}.values())", "items": "list({}.items())", "__getitem__": "{}[{}]",
    "_set_item": "{}[{}] = {}", "Delete": "del {}[{}]", "clear": "{}.clear()", "copy": "dict({})", "dict": "dict({})",
    "len": "len({})", "__contains__": "{1} in {0}", "popitem": "{}.popitem()", "update": "{}.update({})",
}  # fmt: skip
STRINGS = {
    **COMPARED, "add": "{} + {}", "len": "len({})", "__getitem__": "{}[{}]", "slice": "{}[{}:{}:{}]",
    "list": "list({})",
    "Int": "int({})", "Float": "float({})", "Bool": "bool({})", "ord": "ord({})", "device": "torch.device({})",
    "get_autocast_dtype": "torch.get_autocast_dtype({})",
}  # fmt: skip
STRING_METHODS = set(
    "capitalize casefold center expandtabs isalnum isalpha isdecimal isdigit isidentifier islower isnumeric "
    "isprintable isspace istitle isupper join ljust lower lstrip partition replace rjust rpartition rsplit rstrip "
    "split splitlines strip swapcase title upper zfill".split()
)
# With places in a string, of which TorchScript counts those below zero from behind the last character.
STRING_SEARCHES = {"count", "endswith", "find", "index", "rfind", "rindex", "startswith"}
# The text of a float as TorchScript writes it: "3."
FLOAT_TEXT = "('%d.' % {} if abs({}) < 1e10 and {} == int({}) else '%.17g' % {})"
FORMATS = ("format", "percentFormat", "str")
TENSORS = {
    "Int": "int({})", "Float": "float({})", "Bool": "bool({})", "Complex": "complex({})", "ScalarImplicit": "{}.item()",
    "IntImplicit": "int({})", "FloatImplicit": "float({})", "ComplexImplicit": "complex({})", "len": "len({})",
    "is_contiguous": "{}.is_contiguous()", "_local_scalar_dense": "{}.item()",
}  # fmt: skip
SITUATION = {
    "is_grad_enabled": "torch.is_grad_enabled()", "is_autocast_enabled": "torch.is_autocast_enabled()",
    "is_autocast_cpu_enabled": "torch.is_autocast_enabled('cpu')", "is_scripting": "True",
    "_get_tracing_state": "False",
    "dict": "dict()", "promote_types": "torch.promote_types({}, {})", "can_cast": "torch.can_cast({}, {})",
    "_get_cpu_capability": "torch.backends.cpu.get_cpu_capability()", "result_type": "torch.result_type({}, {})",
}  # fmt: skip
ALL = {**ANY, **SITUATION}
BY_FIRST = {
    "ListType": LISTS, "DictType": DICTS, "StringType": STRINGS, "IntType": NUMBERS, "FloatType": NUMBERS,
    "BoolType": NUMBERS, "ComplexType": NUMBERS, "NumberType": NUMBERS, "DeviceObjType": COMPARED, "EnumType": COMPARED,
}  # fmt: skip
# Those of the namespace prim; the first list gives nothing but its operand, or what is known of it.
PRIM = {
    "unchecked_cast": "{}", "unchecked_unwrap_optional": "{}", "Uninitialized": "None", "dtype": "{}.dtype",
    "device": "{}.device", "layout": "{}.layout", "type": "{}.type", "index": "{}.index", "name": "{}.name",
    "requires_grad": "{}.requires_grad", "grad": "{}.grad", "data": "{}.data", "itemsize": "{}.element_size()",
    "nbytes": "{}.nbytes", "id": "id({})", "TupleIndex": "{}[{}]", "StringIndex": "{}[{}]",
    "rangelist": "list(range({}))",
    "abs": "abs({})", "EnumName": "{}.rpartition('.')[2]", "IfThenElse": "{1} if {0} else {2}",
    "is_cpu": "{}.device.type == 'cpu'",
    "NumToTensor": "torch.scalar_tensor({0}, dtype=torch.bool if isinstance({0}, bool) else torch.int64 "
    "if isinstance({0}, int) else torch.complex128 if isinstance({0}, complex) else torch.float64)",
}  # fmt: skip
# Reads of a Tensor that a number was put into, as Python of that number.
FROM_NUMBER = {
    "Int": "int({})", "Float": "float({})", "Bool": "bool({})", "ScalarImplicit": "{}", "IntImplicit": "int({})",
    "FloatImplicit": "float({})", "item": "{}",
}  # fmt: skip
TESTS = {
    "TensorType": "isinstance({}, torch.Tensor)", "IntType": "type({}) is int", "FloatType": "type({}) is float",
    "BoolType": "type({}) is bool", "ComplexType": "type({}) is complex", "StringType": "isinstance({}, str)",
    "NumberType": "type({}) in (int, float, complex)", "ListType": "isinstance({}, list)", "NoneType": "{} is None",
    "TupleType": "isinstance({}, tuple)", "DictType": "isinstance({}, dict)",
    "DeviceObjType": "isinstance({}, torch.device)",
}  # fmt: skip


def holds_tensor(value):
    return "Tensor" in value.type().annotation_str


def is_number_again(node):
    """A number that tracing has put into a Tensor only for it to be read again."""
    return node.kind() == "prim::NumToTensor" and all(
        use.user.kind().removeprefix("aten::") in FROM_NUMBER for use in node.output().uses()
    )


# Operators that write to a list or a dict and return something other than it.
TAKING = ("pop", "popitem", "setdefault")
# Those that compare what a list holds.
COMPARING = {*COMPARED, "__contains__", "index", "count", "remove", "sort", "sorted"}
# Operators that have effects: output on the terminal, and state that later operators depend on.
SAID = ("prim::Print", "aten::warn")
SWITCHES = ("aten::set_grad_enabled", "aten::manual_seed")


def writes(node):
    """True if the node writes to the list or dict that is its first operand."""
    first = next(node.inputs(), None)
    if first is None or first.type().kind() not in ("ListType", "DictType") or node.schema() == "(no schema)":
        return False
    alias = schema_of(node).arguments[0].alias_info
    return alias is not None and alias.is_write


def pattern(node):
    """Returns the piece of Python that stands for this operator; None for one that makes Tensors."""
    namespace, name = node.kind().split("::")
    if namespace == "prim":
        return prim_pattern(node, name)
    if namespace != "aten":
        return None
    inputs = list(node.inputs())
    if name in FROM_NUMBER and is_number_again(inputs[0].node()):
        return FROM_NUMBER[name]
    if name in ALL and not (inputs and name == "dict"):
        return ALL[name]
    kind = inputs[0].type().kind() if inputs else None
    if name in FORMATS:
        return format_pattern(name, inputs)
    if kind == "TensorType":
        return tensor_pattern(node, name, inputs)
    if kind in ("ListType", "DictType") or not any(map(holds_tensor, [*inputs, *node.outputs()])):
        return value_pattern(node, name, kind, inputs)
    return None


def operands(count):
    return ", ".join(["{}"] * count)


def format_pattern(name, inputs):
    if name == "percentFormat":
        return "{} % {}" if inputs[1].type().kind() == "TupleType" else "{} % (" + "{}, " * (len(inputs) - 1) + ")"
    if name == "str":
        return FLOAT_TEXT.replace("{}", "{0}") if inputs[0].type().kind() == "FloatType" else "str({})"
    texts = ["{%d}" % index for index in range(1, len(inputs))]
    texts = [FLOAT_TEXT.replace("{}", text) if value.type().kind() == "FloatType" else text
             for text, value in zip(texts, inputs[1:])]  # fmt: skip
    return f"{{0}}.format({', '.join(texts)})"


def value_pattern(node, name, kind, inputs):
    table = BY_FIRST.get(kind, {})
    types = {value.type().kind() for value in inputs}
    if kind == "ListType" and holds_tensor(inputs[0]) and name not in table:
        return None  # aten::cat
    if kind == "DictType" and name in ("get", "pop", "setdefault"):
        return f"{{}}.{name}({operands(len(inputs) - 1)})"
    if kind == "StringType":
        if name == "device" and len(inputs) == 2:
            return "torch.device({}, {})"
        if name in STRING_METHODS:
            return f"{{}}.{name}({operands(len(inputs) - 1)})"
        if name in STRING_SEARCHES:
            return f"{{0}}.{name}({{1}}, {{2}}, {{3}} if {{3}} >= 0 else len({{0}}) + 1 + {{3}})"
    if table is NUMBERS:
        return number_pattern(node, name, types, len(inputs))
    return table.get(name)


def number_pattern(node, name, types, count):
    if "ListType" in types:
        return "{} * {}" if name == "mul" else None
    gives = next(node.outputs()).type().kind() if node.outputsSize() else None
    if name == "Complex":
        return f"complex({operands(count)})"
    if name == "pow":
        return "math.pow({}, {})" if gives == "FloatType" else "{} ** {}"
    if name == "floordiv":
        return "float(math.floor({} / {}))" if "FloatType" in types else "{} // {}"
    if name in MATHEMATICS:
        return f"{'cmath' if 'ComplexType' in types else 'math'}.{name}({operands(count)})"
    return NUMBERS.get(name)


def tensor_pattern(node, name, inputs):
    if any(map(holds_tensor, node.outputs())):
        return None
    if name in ("size", "stride") and len(inputs) == 1:
        return f"list({{}}.{name}())"
    if name == "is_contiguous" and len(inputs) == 2:
        return "{}.is_contiguous(memory_format={})"
    if name == "Complex" and len(inputs) == 2:
        return "complex({}, {})"
    if name in TENSORS:
        return TENSORS[name]
    if node.outputsSize() and callable(getattr(torch.Tensor, name, None)):
        return f"{{}}.{name}({operands(len(inputs) - 1)})"
    return None


def prim_pattern(node, name):
    if name in ("min", "max"):
        return f"{name}({operands(node.inputsSize())})"
    if name == "TupleSlice":
        return f"{{}}[{node.i('beg')}:{node.i('end')}]"
    if name == "isinstance":
        tests = [TESTS.get(type_.kind()) for type_ in node.tys("types")]
        return " or ".join(tests).replace("{}", "{0}") if all(tests) else None
    if name == "tolist":
        return "{}.tolist()"
    if re.fullmatch(r"is_\w+", name) and hasattr(torch.Tensor, name):
        return PRIM.get(name, f"{{}}.{name}")
    return "{}" if is_number_again(node) else PRIM.get(name)
