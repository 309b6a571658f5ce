"""A flat TorchScript graph as Python source: one statement an operator, torch.ops.aten.NAME.OVERLOAD, no operator
replaced by another."""

import keyword
import re

import plain
from calls import MADE, Untranslatable, attribute_name, call, enum_name, function, graph_of, literal
from words import EnumWords, UnknownWord

MODULES = ("math", "cmath", "warnings")  # what a source may need beside torch
BUILTINS = (
    "len int float bool complex list dict tuple str range min max abs sum all any sorted round id isinstance type "
)
BUILTINS += "print chr ord hex oct bin"


class Translator:
    def __init__(self, graph):
        self.graph = graph
        self.words = EnumWords(graph)
        self.names = {}  # of values, by debug name
        self.taken = {*keyword.kwlist, *MODULES, *BUILTINS.split(), "self", "torch"}
        self.texts = {}  # of constants and of lists that stand where they are used
        self.held = {}  # tensors and objects among the constants of the graph: attribute name, value
        self.managers = {}  # objects that a `with` is about: name of the class, attributes as text
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

    def operand(self, node, index):
        value = node.inputsAt(index)
        word = self.words.word(value, self.words.operand(node, index))
        return "torch." + word if word else self.text(value)

    def operands(self, node):
        return [self.operand(node, index) for index in range(node.inputsSize())]

    def results(self, node, position, block):
        """Returns the texts of the values that a block hands to the outputs of its node."""
        words = [self.words.word(value, self.words.block_result(node, position, index)) if node.outputsSize() else None
                 for index, value in enumerate(block.outputs())]  # fmt: skip
        return ["torch." + word if word else self.text(value) for word, value in zip(words, block.outputs())]

    def block(self, block):
        for node in block.nodes():
            self.node(node)

    def node(self, node):
        kind = node.kind()
        special = {
            "prim::Constant": self.constant, "prim::GetAttr": self.attribute, "prim::ListConstruct": self.construct,
            "prim::TupleConstruct": self.construct, "prim::DictConstruct": self.construct,
            "prim::ListUnpack": self.unpack, "prim::TupleUnpack": self.unpack, "prim::If": self.branch,
            "prim::Loop": self.loop, "prim::RaiseException": self.raise_exception, "prim::SetAttr": self.set_attribute,
            "prim::Print": self.say, "aten::warn": self.say, "prim::CreateObject": self.create,
            "prim::Enter": self.enter, "prim::Exit": self.leave, "prim::AutogradZero": self.undefined,
        }.get(kind)  # fmt: skip
        pattern = None if special else plain.pattern(node)
        if special:
            special(node)
        elif plain.writes(node) and pattern:
            self.write(node, pattern)
        elif pattern:
            texts = [f"({text})" if text.startswith("-") else text for text in self.operands(node)]
            self.assign(node, pattern.format(*texts))
        elif kind in MADE:
            self.make(node)
        elif node.schema() == "(no schema)" or next(node.blocks(), None) is not None:
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
        if not output.uses():
            return
        if output.type().kind() == "EnumType":  # known by its name
            self.texts[output.debugName()] = repr(enum_name(node))
            return
        self.texts[output.debugName()] = literal(output.toIValue(), self.hold)

    def hold(self, value):
        name = f"constant_{len(self.held)}"
        self.held[name] = value
        return "self." + name

    def attribute(self, node):
        self.texts[node.output().debugName()] = f"{self.text(node.input())}.{attribute_name(node.s('name'))}"

    def undefined(self, node):
        """A Tensor that is not there."""
        self.texts[node.output().debugName()] = "None"

    def set_attribute(self, node):
        target, value = node.inputs()
        if target.debugName() in self.managers:
            self.managers[target.debugName()][1][node.s("name")] = self.operand(node, 1)
            return
        self.line(f"{self.text(target)}.{attribute_name(node.s('name'))} = {self.text(value)}")

    def construct(self, node):
        texts = self.operands(node)
        if node.kind() == "prim::DictConstruct":
            self.assign(node, "{" + ", ".join(f"{k}: {v}" for k, v in zip(texts[::2], texts[1::2])) + "}")
            return
        is_list = node.kind() == "prim::ListConstruct"
        text = "[" + ", ".join(texts) + "]" if is_list else "(" + "".join(part + ", " for part in texts).rstrip() + ")"
        uses = node.output().uses()
        if len(uses) == 1 and self.only_reads(uses[0].user):
            self.texts[node.output().debugName()] = text
        else:
            self.assign(node, text)

    @staticmethod
    def only_reads(user):
        return user.kind() == "prim::Return" or (user.kind().startswith("aten::") and not plain.writes(user))

    def unpack(self, node):
        outputs = list(node.outputs())
        if not outputs:
            return
        names = [self.new_name(value) for value in outputs]
        self.line(", ".join(names) + ("," if len(names) == 1 else "") + " = " + self.text(node.input()))

    def raise_exception(self, node):
        self.line(f"raise RuntimeError({self.text(next(node.inputs()))})")

    def say(self, node):
        texts = self.operands(node)
        text = f"print({', '.join(texts)})" if node.kind() == "prim::Print" else f"warnings.warn({texts[0]})"
        self.line(text)

    def create(self, node):
        name = node.output().type().annotation_str.rpartition(".")[2]
        if name not in MANAGERS:
            raise Untranslatable(f"an object of the class {name} has no equivalent in Python")
        self.managers[node.output().debugName()] = (name, {})

    def enter(self, node):
        name, attributes = self.managers.get(node.input().debugName(), ("", {}))
        if not name:
            raise Untranslatable("a `with` about an object that is handed around has no equivalent in Python")
        self.line(f"with {MANAGERS[name].format(**attributes)}:")
        self.depth += 1
        for output in node.outputs():
            self.texts[output.debugName()] = "None"

    def leave(self, node):
        self.line("pass")
        self.depth -= 1
        for output in node.outputs():
            self.texts[output.debugName()] = "None"

    def branch(self, node):
        outputs = [self.new_name(value) for value in node.outputs()]
        self.line(f"if {self.text(node.input())}:")
        for position, block in enumerate(node.blocks()):
            if position:
                self.line("else:")
            self.depth += 1
            self.block(block)
            self.hand_over(outputs, self.results(node, position, block))
            self.depth -= 1

    def hand_over(self, names, texts):
        self.line(", ".join(names) + " = " + ", ".join(texts) if names else "pass")

    def loop(self, node):
        most, first_condition, *initial = self.operands(node)
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
        self.hand_over([condition, *carried], self.results(node, 0, block))
        self.depth -= 1
        outputs = [self.new_name(value) for value in node.outputs()]
        if outputs:
            self.hand_over(outputs, carried)

    def operator(self, node):
        positional, by_name = call(node)
        words = [self.operand(node, index) for index in positional]
        words += [f"{key}={self.operand(node, index)}" for key, index in by_name.items()]
        self.assign(node, f"torch.ops.{function(node)}({', '.join(words)})")

    def make(self, node):
        """A Tensor of plain values: torch.tensor has no operator that Dynamo knows."""
        positional, by_name = call(node)
        words = [self.operand(node, index) for index in positional]
        words += [f"{key}={self.operand(node, index)}" for key, index in by_name.items()]
        self.assign(node, f"torch.{MADE[node.kind()]}({', '.join(words)})")

    def write(self, node, pattern):
        """Writes to a list or a dict."""
        texts = self.operands(node)
        if node.kind().removeprefix("aten::") in plain.TAKING:
            self.assign(node, pattern.format(*texts))
            return
        self.line(pattern.format(*texts))
        for output in node.outputs():
            self.texts[output.debugName()] = texts[0]


MANAGERS = {
    "no_grad": "torch.no_grad()", "enable_grad": "torch.enable_grad()", "inference_mode": "torch.inference_mode()",
    "set_grad_enabled": "torch.set_grad_enabled({mode})",
    "autocast": "torch.autocast({device}, {fast_dtype}, enabled={_enabled})",
}  # fmt: skip


def translate(script):
    """(source lines of forward, constants without a literal) of a ScriptModule."""
    translator = Translator(graph_of(script))
    try:
        return translator.source(), translator.held
    except UnknownWord as error:
        raise Untranslatable(str(error)) from error
