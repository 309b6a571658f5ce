"""A flat TorchScript graph as Python source: one statement an operator, torch.ops.aten.NAME.OVERLOAD, no operator
replaced by another."""

import keyword
import math
import re

import torch


class Untranslatable(Exception):
    """The graph has something that Python source cannot say; the message names it."""


DTYPES = {
    index: name
    for index, name in enumerate(
        "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool qint8 quint8 qint32 "
        "bfloat16 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz "
        "float8_e4m3fnuz uint16 uint32 uint64".split()
    )
}
LAYOUTS = {0: "strided", 1: "sparse_coo", 2: "sparse_csr", 3: "_mkldnn", 4: "sparse_csc", 5: "sparse_bsr", 6: "sparse_bsc"}
MEMORY_FORMATS = {0: "contiguous_format", 1: "preserve_format", 2: "channels_last", 3: "channels_last_3d"}

# On plain numbers, lists and strings: Python's own operators, which Dynamo computes while it traces.
SCALAR_OPERATORS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "floordiv": "{} // {}",
    "remainder": "{} % {}", "pow": "{} ** {}", "neg": "-{}", "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}",
    "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}", "__and__": "{} & {}", "__or__": "{} | {}", "__xor__": "{} ^ {}",
    "__not__": "not {}", "__is__": "{} is {}", "__isnot__": "{} is not {}", "__getitem__": "{}[{}]", "len": "len({})",
    "Int": "int({})", "Float": "float({})", "Bool": "bool({})", "floor": "math.floor({})", "ceil": "math.ceil({})",
    "sqrt": "math.sqrt({})", "list": "list({})", "__contains__": "{1} in {0}", "__range_length":
    "len(range({}, {}, {}))", "__derive_index": "{1} + {0} * {2}", "copy": "list({})", "abs": "abs({})",
}  # fmt: skip
# Operators that write to a list, and the scalars that are read from a Tensor.
STATEMENTS = {"append": "{}.append({})", "extend": "{}.extend({})", "_set_item": "{}[{}] = {}", "clear": "{}.clear()"}
FROM_TENSOR = {
    "Int": "int({})", "Float": "float({})", "Bool": "bool({})", "ScalarImplicit": "{}.item()", "IntImplicit": "int({})",
    "FloatImplicit": "float({})", "item": "{}.item()", "size": "{}.size({})", "dim": "{}.dim()", "numel": "{}.numel()",
    "len": "len({})", "is_floating_point": "{}.is_floating_point()", "is_complex": "{}.is_complex()",
    "stride": "{}.stride({})", "storage_offset": "{}.storage_offset()",
}  # fmt: skip
PRIM = {
    "prim::NumToTensor": "torch.scalar_tensor({0}, dtype=torch.int64 if isinstance({0}, int) else torch.float64)",
    "prim::unchecked_cast": "{}", "prim::unchecked_unwrap_optional": "{}", "aten::_unwrap_optional": "{}",
    "prim::dtype": "{}.dtype", "prim::device": "{}.device", "prim::layout": "{}.layout", "prim::is_cuda": "{}.is_cuda",
    "prim::requires_grad": "{}.requires_grad", "prim::Uninitialized": "None", "prim::min": "min({})",
    "prim::max": "max({})", "prim::TupleIndex": "{}[{}]", "prim::data": "{}.data", "prim::tolist": "{}.tolist()",
    "prim::is_quantized": "{}.is_quantized", "prim::is_sparse": "{}.is_sparse", "aten::device": "torch.device({})",
    "prim::abs": "abs({})",
}  # fmt: skip


# Python's own functions that the source calls: no value is named like one.
CALLED = {"len", "int", "float", "bool", "complex", "str", "list", "dict", "tuple", "range", "min", "max", "abs", "isinstance", "RuntimeError"}  # fmt: skip


def attribute_name(name):
    """What a parameter or buffer of that name is called in a torch.nn.Module, which has names of its own."""
    if not name.isidentifier():
        raise Untranslatable(f"{name!r} is no name in Python")
    return name + "_" if keyword.iskeyword(name) or hasattr(torch.nn.Module, name) else name


def number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


class Translator:
    def __init__(self, graph):
        self.graph = graph
        self.names = {}  # of values, by debug name
        self.taken = set(keyword.kwlist) | CALLED | {"self", "torch", "math"}
        self.texts = {}  # of constants and of lists that stand where they are used
        self.tensors = {}  # constants of the graph: attribute name, value
        self.lines = []
        self.depth = 2

    def source(self):
        """The lines of `def forward(self, ...)`, indented as in a class."""
        inputs = list(self.graph.inputs())
        self.texts[inputs[0].debugName()] = "self"
        arguments = [self.new_name(value) for value in inputs[1:]]
        self.block(self.graph)
        (result,) = self.graph.outputs()
        self.line("return " + self.text(result))
        return [f"    def forward({', '.join(['self', *arguments])}):", *self.lines]

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def new_name(self, value):
        stem = re.sub(r"\W", "_", re.sub(r"(?<=.)\.\d+$", "", value.debugName()))
        if not stem[0].isalpha():
            stem = "v" + stem.lstrip("_")
        name, count = stem, 1
        while name in self.taken:
            name, count = f"{stem}_{count}", count + 1
        self.taken.add(name)
        self.names[value.debugName()] = name
        return name

    def text(self, value):
        known = self.texts.get(value.debugName())
        return known if known is not None else self.names[value.debugName()]

    def texts_of(self, values):
        return [self.text(value) for value in values]

    def block(self, block):
        for node in block.nodes():
            self.node(node)

    def node(self, node):
        kind = node.kind()
        if kind == "aten::format":
            self.assign(node, "{}.format({})".format(*(lambda t: (t[0], ", ".join(t[1:])))(self.texts_of(node.inputs()))))
            return
        special = {
            "prim::Constant": self.constant, "prim::GetAttr": self.attribute, "prim::ListConstruct": self.construct,
            "prim::TupleConstruct": self.construct, "prim::DictConstruct": self.construct,
            "prim::ListUnpack": self.unpack, "prim::TupleUnpack": self.unpack, "prim::If": self.branch,
            "prim::Loop": self.loop, "prim::RaiseException": self.raise_exception, "prim::SetAttr": self.set_attribute,
        }.get(kind)  # fmt: skip
        if special:
            special(node)
        elif kind in PRIM:
            pattern = "{}" if is_number_again(node) else PRIM[kind]
            self.assign(node, pattern.format(*self.texts_of(node.inputs())))
        elif node.schema() == "(no schema)" or kind.startswith("prim::"):
            raise Untranslatable(f"{kind} has no equivalent in Python")
        else:
            self.operator(node)

    def assign(self, node, expression):
        outputs = list(node.outputs())
        if not outputs:
            self.line(expression)
            return
        names = [self.new_name(value) for value in outputs]
        self.line(", ".join(names) + " = " + expression)

    def constant(self, node):
        output = node.output()
        value = output.toIValue()
        if isinstance(value, torch.Tensor):
            name = f"constant_{len(self.tensors)}"
            self.tensors[name] = value
            self.texts[output.debugName()] = "self." + name
        else:
            self.texts[output.debugName()] = literal(value)

    def attribute(self, node):
        self.texts[node.output().debugName()] = f"{self.text(node.input())}.{attribute_name(node.s('name'))}"

    def set_attribute(self, node):
        target, value = node.inputs()
        self.line(f"{self.text(target)}.{attribute_name(node.s('name'))} = {self.text(value)}")

    def construct(self, node):
        texts = self.texts_of(node.inputs())
        if node.kind() == "prim::DictConstruct":
            self.assign(node, "{" + ", ".join(f"{k}: {v}" for k, v in zip(texts[::2], texts[1::2])) + "}")
            return
        is_list = node.kind() == "prim::ListConstruct"
        text = "[" + ", ".join(texts) + "]" if is_list else "(" + "".join(part + ", " for part in texts).rstrip() + ")"
        uses = node.output().uses() if callable(getattr(node.output(), "uses", None)) else []
        if len(uses) == 1 and self.only_reads(uses[0].user):
            self.texts[node.output().debugName()] = text
        else:
            self.assign(node, text)

    @staticmethod
    def only_reads(user):
        return user.kind() == "prim::Return" or (
            user.kind().startswith("aten::") and user.kind().removeprefix("aten::") not in STATEMENTS
        )

    def unpack(self, node):
        outputs = list(node.outputs())
        if not outputs:
            return
        names = [self.new_name(value) for value in outputs]
        self.line(", ".join(names) + ("," if len(names) == 1 else "") + " = " + self.text(node.input()))

    def raise_exception(self, node):
        self.line(f"raise RuntimeError({self.text(next(node.inputs()))})")

    def branch(self, node):
        outputs = [self.new_name(value) for value in node.outputs()]
        self.line(f"if {self.text(node.input())}:")
        for position, block in enumerate(node.blocks()):
            if position:
                self.line("else:")
            self.depth += 1
            self.block(block)
            self.hand_over(outputs, self.texts_of(block.outputs()))
            self.depth -= 1

    def hand_over(self, names, texts):
        self.line(", ".join(names) + " = " + ", ".join(texts) if names else "pass")

    def loop(self, node):
        most, first_condition, *initial = self.texts_of(node.inputs())
        (block,) = node.blocks()
        index, *carried = block.inputs()
        index = self.new_name(index)
        carried = [self.new_name(value) for value in carried]
        condition = f"go_on_{len(self.names)}"
        self.taken.add(condition)
        if carried:
            self.hand_over(carried, initial)
        self.line(f"{condition} = {first_condition}")
        self.line(f"for {index} in range({most}):")
        self.depth += 1
        self.line(f"if not {condition}:")
        self.line("    break")
        self.block(block)
        texts = self.texts_of(block.outputs())
        self.hand_over([condition, *carried], texts)
        self.depth -= 1
        outputs = [self.new_name(value) for value in node.outputs()]
        if outputs:
            self.hand_over(outputs, carried)

    def operator(self, node):
        name = node.kind().split("::")[1]
        inputs = list(node.inputs())
        if writes_to_list(node):
            self.list_statement(node, name)
        elif (pattern := scalar_pattern(node)) is not None:
            self.assign(node, pattern.format(*(f"({text})" if " " in text else text for text in self.texts_of(inputs))))
        else:
            positional, by_name = call(node)
            words = [self.argument(*given) for given in positional]
            words += [f"{key}={self.argument(*given)}" for key, given in by_name.items()]
            self.assign(node, f"torch.ops.{function(node)}({', '.join(words)})")

    def list_statement(self, node, name):
        texts = self.texts_of(node.inputs())
        self.line(STATEMENTS[name].format(*texts))
        for output in node.outputs():
            self.texts[output.debugName()] = texts[0]

    def argument(self, word, value):
        return "torch." + word if word else self.text(value)


def holds_tensor(value):
    return "Tensor" in value.type().annotation_str


def writes_to_list(node):
    namespace, name = node.kind().split("::")
    return namespace == "aten" and name in STATEMENTS and next(node.inputs()).type().kind() == "ListType"


# What is read from a Tensor that a number was put into, in the place of that number.
FROM_NUMBER = {
    "Int": "int({})", "Float": "float({})", "Bool": "bool({})", "ScalarImplicit": "{}", "IntImplicit": "int({})",
    "FloatImplicit": "float({})", "item": "{}",
}  # fmt: skip


def is_number_again(node):
    """A number that tracing has put into a Tensor only for it to be read again."""
    return node.kind() == "prim::NumToTensor" and all(
        use.user.kind().removeprefix("aten::") in FROM_NUMBER for use in node.output().uses()
    )


def scalar_pattern(node):
    """An operator on plain values, or one that reads such a value from a Tensor, as a piece of Python; else None."""
    namespace, name = node.kind().split("::")
    if namespace != "aten":
        return None
    inputs = list(node.inputs())
    gives_tensor = any(map(holds_tensor, node.outputs()))
    on_tensors = gives_tensor or any(map(holds_tensor, inputs))
    if name in FROM_NUMBER and is_number_again(inputs[0].node()):
        return FROM_NUMBER[name]
    pattern = FROM_TENSOR.get(name) if on_tensors else SCALAR_OPERATORS.get(name)
    if name == "__getitem__" or (name in ("len", "list") and inputs[0].type().kind() == "ListType"):
        pattern = SCALAR_OPERATORS[name]
    if name in ("__is__", "__isnot__"):
        return SCALAR_OPERATORS[name]
    if not pattern or (gives_tensor and name != "__getitem__"):
        return None
    if name in ("size", "stride") and len(inputs) == 1:
        return "list({}." + name + "())"
    return pattern


def function(node):
    """The OpOverload; its text is aten.add.Tensor."""
    namespace, name = node.kind().split("::")
    overload = torch._C.parse_schema(node.schema()).overload_name or "default"
    packet = getattr(getattr(torch.ops, namespace), name, None)
    if packet is None or not hasattr(packet, overload):
        raise Untranslatable(f"{namespace}::{name}.{overload} is not among torch.ops")
    return getattr(packet, overload)


def call(node):
    """(positional arguments, arguments by name), each (word, value): a dtype, layout or memory format has a word,
    "float32".

    As short as they can be: what equals its default is left out from the right, or by name.
    """
    schema = torch._C.parse_schema(node.schema())
    positional, by_name = [], {}
    for argument, value in zip(schema.arguments, node.inputs()):
        given, default = (word_for(argument, value), value), is_default(argument, value)
        if not argument.kwarg_only:
            positional.append((given, default))
        elif not default:
            by_name[argument.name] = given
    while positional and positional[-1][1]:
        positional.pop()
    return [given for given, _ in positional], by_name


def is_default(argument, value):
    if value.node().kind() != "prim::Constant" or not argument.has_default_value():
        return False
    given = value.toIValue()
    return not isinstance(given, torch.Tensor) and type(given) is type(argument.default_value) and (
        given == argument.default_value
    )


def word_for(argument, value):
    """dtypes, layouts and memory formats are numbers in TorchScript."""
    if value.node().kind() != "prim::Constant":
        return None
    wanted = str(argument.real_type) + getattr(argument.real_type, "annotation_str", "")
    given = value.toIValue()
    for kind, table in (("ScalarType", DTYPES), ("Layout", LAYOUTS), ("MemoryFormat", MEMORY_FORMATS)):
        if kind in wanted and isinstance(given, int):
            if given not in table:
                raise Untranslatable(f"no {kind} has the number {given}")
            return table[given]
    return None


def literal(value):
    if isinstance(value, (list, tuple)):
        parts = [literal(part) for part in value]
        if isinstance(value, list):
            return "[" + ", ".join(parts) + "]"
        return "(" + "".join(part + ", " for part in parts).rstrip(" ") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (float, complex)):
        return number(value)
    if isinstance(value, torch.device):
        return f"torch.device('{value}')"
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    raise Untranslatable(f"a constant of type {type(value).__name__} has no literal")


def graph_of(script):
    """That of a ScriptModule's forward, calls inlined."""
    graph = script._c._get_method("forward").graph.copy()
    torch._C._jit_pass_inline(graph)
    return graph


def translate(script):
    """(source lines of forward, tensor constants) of a ScriptModule."""
    translator = Translator(graph_of(script))
    return translator.source(), translator.tensors
