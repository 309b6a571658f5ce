"""dtypes, layouts and memory formats: numbers in TorchScript, words in Python ("float32").

The type of such a number is `int`. What it stands for is seen from where it comes from (prim::dtype), where it goes
(an argument of the type ScalarType), and what it is compared with, merged with, or kept in a list with.
"""

import functools

import torch

DTYPES = dict(enumerate(
    "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool qint8 quint8 qint32 "
    "bfloat16 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz "
    "float8_e4m3fnuz uint16 uint32 uint64".split()
))  # fmt: skip
LAYOUTS = dict(enumerate("strided sparse_coo sparse_csr _mkldnn sparse_csc sparse_bsr sparse_bsc".split()))
MEMORY_FORMATS = dict(enumerate("contiguous_format preserve_format channels_last channels_last_3d".split()))
TABLES = {"ScalarType": DTYPES, "Layout": LAYOUTS, "MemoryFormat": MEMORY_FORMATS}
NUMBERS = {getattr(torch, word): number for table in TABLES.values() for number, word in table.items()
           if hasattr(torch, word)}  # fmt: skip
GIVES = {"prim::dtype": "ScalarType", "prim::layout": "Layout", "aten::get_autocast_dtype": "ScalarType"}
# Operators whose operands are of one kind, and those whose result is of the kind of their operand.
ALIKE = ("eq", "ne", "__is__", "__isnot__", "__contains__", "append", "index", "count", "remove")
ALIKE_RESULT = ("__getitem__", "select", "unchecked_cast", "unchecked_unwrap_optional", "_unwrap_optional",
                "ListUnpack", "ListConstruct", "copy", "list")  # fmt: skip


class UnknownWord(Exception):
    """A number that stands for nothing this version of PyTorch knows."""


parsed = functools.lru_cache(maxsize=None)(torch._C.parse_schema)


def schema_of(node):
    return None if node.schema() == "(no schema)" else parsed(node.schema())


def kind_of(argument):
    """Returns the kind of an argument or a result of a schema: a key of TABLES, or None."""
    text = str(argument.real_type) + getattr(argument.real_type, "annotation_str", "")
    return next((kind for kind in TABLES if kind in text), None)


def is_number(value):
    return any(word in value.type().annotation_str for word in ("int", "None", "Optional"))


class EnumWords:
    """Finds which values of a graph, and which uses of its constants, are numbers that stand for such a word."""

    def __init__(self, graph):
        self.parents = {}
        self.kinds = {}
        self.visit(graph)

    def visit(self, block):
        for node in block.nodes():
            self.join_alike(node)
            self.seed(node)
            for inner in node.blocks():
                self.visit(inner)

    @staticmethod
    def key(value, *use):
        """Names a value, or one use of a constant, which may stand for something else where it is used elsewhere."""
        return use if value.node().kind() == "prim::Constant" else value.debugName()

    def operand(self, node, index):
        outputs = node.outputsSize()
        return self.key(node.inputsAt(index), next(node.outputs()).debugName() if outputs else str(node), index)

    def block_result(self, node, position, index):
        value = list(list(node.blocks())[position].outputs())[index]
        return self.key(value, next(node.outputs()).debugName(), position, "result", index)

    def root(self, key):
        while key in self.parents:
            key = self.parents[key]
        return key

    def join(self, one, other):
        one, other = self.root(one), self.root(other)
        if one != other:
            self.parents[one] = other
            kind = self.kinds.pop(one, None)
            if kind:
                self.kinds.setdefault(other, kind)

    def join_alike(self, node):
        kind, name = node.kind(), node.kind().split("::")[1]
        inputs, outputs = list(node.inputs()), list(node.outputs())
        if kind in ("prim::If", "prim::Loop"):
            self.join_blocks(node, outputs)
        elif name in ALIKE and len(inputs) > 1 and all(map(is_number, inputs[:2])):
            self.join(self.operand(node, 0), self.operand(node, 1))
        elif name in ALIKE_RESULT and outputs and is_number(outputs[0]):
            for index in range(len(inputs) if name == "ListConstruct" else 1):
                self.join(self.operand(node, index), outputs[0].debugName())
            for output in outputs[1:]:
                self.join(output.debugName(), outputs[0].debugName())

    def join_blocks(self, node, outputs):
        first = 1 if node.kind() == "prim::Loop" else 0
        for position, block in enumerate(node.blocks()):  # noqa: B007
            for index, output in enumerate(outputs):
                self.join(self.block_result(node, position, index + first), output.debugName())
        if first:
            for index, carried in enumerate(list(block.inputs())[1:]):
                self.join(self.operand(node, index + 2), carried.debugName())
                self.join(outputs[index].debugName(), carried.debugName())

    def seed(self, node):
        for output in node.outputs():
            if node.kind() in GIVES:
                self.kinds[self.root(output.debugName())] = GIVES[node.kind()]
        if node.kind() == "prim::SetAttr" and node.s("name") == "fast_dtype":  # of torch.autocast
            self.kinds[self.root(self.operand(node, 1))] = "ScalarType"
        schema = schema_of(node)
        if schema is None:
            return
        for index, argument in enumerate(schema.arguments[: node.inputsSize()]):
            if kind := kind_of(argument):
                self.kinds[self.root(self.operand(node, index))] = kind
        for result, output in zip(schema.returns, node.outputs()):
            if kind := kind_of(result):
                self.kinds[self.root(output.debugName())] = kind

    def word(self, value, key):
        """Returns the word of a constant where it is used ("float32"), or None where it is a number like others. `key`
        is what operand() or block_result() says of the use."""
        table = TABLES.get(self.kinds.get(self.root(key))) if value.node().kind() == "prim::Constant" else None
        number = value.toIValue() if table else None
        if not isinstance(number, int) or isinstance(number, bool):
            return None
        if number not in table:
            raise UnknownWord(f"no dtype, layout or memory format has the number {number}")
        return table[number]
