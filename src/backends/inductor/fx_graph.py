"""A straight-line TorchScript graph as a torch.fx graph, node by node, without tracing: TorchInductor is handed just
the operators of the program.

Plain numbers, lists and shapes are known once the inputs are, and are computed while the graph is made, as Dynamo does
it with static shapes; a fake run beside it says what shapes and types intermediate values have.
"""

import cmath
import math
import operator
from dataclasses import dataclass

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch.utils import _pytree as pytree

import plain
from calls import MADE, Untranslatable, attribute_name, call, enum_name, function, graph_of, require_literal
from words import TABLES, EnumWords, kind_of, schema_of


class Uncovered(Untranslatable):
    """Raised for a program that is left to Dynamo; the message names the reason."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """A Tensor of the graph: the node that makes it, and a fake tensor, which has its shape and type and no data."""

    node: torch.fx.Node
    fake: torch.Tensor


@dataclass(frozen=True)
class Output:
    """A leaf of what forward returns: the position of a result of the graph."""

    position: int


@dataclass(frozen=True)
class Argument:
    """A leaf of what forward returns: the position of an argument, which is returned itself."""

    position: int


@dataclass(frozen=True)
class Attribute:
    """A leaf of what forward returns: the name of an attribute of the module, which is returned itself."""

    name: str


def with_output(graph, result):
    """Gives the graph its output: each Tensor once, and none that it was given. Returns the template of `result`, which
    has nodes of the graph for Tensors."""
    results = []

    def leaf(node):
        if node.op == "placeholder":
            return Argument(int(node.target.removeprefix("argument_")))
        if node.op == "get_attr":
            return Attribute(node.target)
        if node not in results:
            results.append(node)
        return Output(results.index(node))

    template = pytree.tree_map_only(torch.fx.Node, leaf, result)
    graph.output(tuple(results))
    for node in reversed(graph.nodes):
        if node.target is operator.getitem and not node.users:
            graph.erase_node(node)
    return template


SPACE = {"math": math, "cmath": cmath, "torch": torch}


def names_of(values):
    return {f"v{index}": value for index, value in enumerate(values)}


def computed(pattern, values):
    """Returns the value of a piece of Python, as plain.pattern() gives it, for these operands."""
    names = names_of(values)
    return eval(pattern.format(*names), SPACE, names)


def has_symbols(values):
    return any(isinstance(leaf, Symbol) for leaf in pytree.tree_leaves(values))


def reads_tensor(node, name):
    first = node.inputsAt(0).type().kind() if node.inputsSize() else None
    return first == "TensorType" or name in ("isinstance", "result_type")


def compares_data(name, values):
    return name in plain.COMPARING and isinstance(values[0], list) and has_symbols(values)


HELD = (torch.Tensor, torch.ScriptObject)  # have no literal: in a constant they are attributes of the module


def holds_a_tensor_constant(block):
    """True if a constant in the block, however deep, is or holds a tensor or a script object."""
    for node in block.nodes():
        if node.kind() == "prim::Constant" and node.output().type().kind() != "EnumType":
            leaves = pytree.tree_leaves(node.output().toIValue())
            if any(isinstance(leaf, HELD) for leaf in leaves):
                return True
        if any(holds_a_tensor_constant(inner) for inner in node.blocks()):
            return True
    return False


def is_a_number(value):
    """True for the number of a user's `x + 1`, of which tracing has made a constant tensor. Read from memory, as
    attributes are, it would hide what TorchInductor and its compiler make of a number that they know."""
    return (
        isinstance(value, torch.Tensor)
        and value.dim() == 0
        and value.dtype in (torch.int64, torch.float64, torch.bool)
        and value.layout == torch.strided
        and value.is_cpu
        and not value.requires_grad
    )


def may_be_written(node):
    return any(use.user.kind().endswith("_") for use in node.output().uses())


class Builder:
    """Interprets a graph: operators on tensors become nodes of torch.fx, everything else is computed at once."""

    def __init__(self, script, module, arguments):
        self.jit_graph = graph_of(script)
        self.words = EnumWords(self.jit_graph)
        self.module = module
        self.arguments = arguments
        self.fake_mode = FakeTensorMode()
        self.graph = torch.fx.Graph()
        self.values = {}  # by debug name; a list is one object wherever it is named
        self.attributes = {}
        self.constants = 0

    def build(self):
        """(GraphModule, what forward returns, with Output, Argument and Attribute in the place of tensors)."""
        own, *inputs = self.jit_graph.inputs()
        self.values[own.debugName()] = self.module
        for position, (value, argument) in enumerate(zip(inputs, self.arguments, strict=True)):
            if not isinstance(argument, torch.Tensor):
                raise Uncovered(f"an argument of type {type(argument).__name__}")
            fake = self.fake_mode.from_tensor(argument, static_shapes=True)
            self.values[value.debugName()] = Symbol(self.graph.placeholder(f"argument_{position}"), fake)
        with self.fake_mode, enable_python_dispatcher():
            for node in self.jit_graph.nodes():
                self.node(node)
        (result,) = (self.value(value) for value in self.jit_graph.outputs())
        template = self.finish(result)
        return torch.fx.GraphModule(self.module, self.graph), template

    def value(self, value):
        return self.values[value.debugName()]

    def operand(self, node, index):
        value = node.inputsAt(index)
        word = self.words.word(value, self.words.operand(node, index))
        return getattr(torch, word) if word else self.value(value)

    def operands(self, node):
        return [self.operand(node, index) for index in range(node.inputsSize())]

    def node(self, node):
        kind = node.kind()
        special = {
            "prim::Constant": self.constant, "prim::GetAttr": self.attribute, "prim::ListConstruct": self.construct,
            "prim::TupleConstruct": self.construct, "prim::DictConstruct": self.construct,
            "prim::ListUnpack": self.unpack, "prim::TupleUnpack": self.unpack,
            "prim::NumToTensor": self.number_to_tensor, "prim::abs": self.absolute,
            "prim::AutogradZero": self.undefined, "prim::If": self.branch,
        }.get(kind)  # fmt: skip
        if special:
            special(node)
        elif kind in plain.SAID:
            return  # what is printed or warned of is no part of the result
        elif kind in plain.SWITCHES:
            raise Uncovered(kind)
        elif pattern := plain.pattern(node):
            (self.write if plain.writes(node) else self.plain)(node, pattern)
        elif node.schema() == "(no schema)" or kind.startswith("prim::") or next(node.blocks(), None) is not None:
            raise Uncovered(kind)
        else:
            self.operator(node)

    def branch(self, node):
        """One that shapes, dtypes or numbers decide is decided as Dynamo decides it, once for these inputs."""
        condition = self.value(node.input())
        if not isinstance(condition, bool):
            raise Uncovered("prim::If of a Tensor's data")
        taken, left = node.blocks() if condition else reversed(list(node.blocks()))
        if holds_a_tensor_constant(left):  # constant_N is numbered as Translator.hold() does it, which visits both
            raise Uncovered("prim::If with constant tensors in the branch that is not taken")
        for inner in taken.nodes():
            self.node(inner)
        self.assign(node, [self.value(result) for result in taken.outputs()])

    def constant(self, node):
        if not node.output().uses():
            return
        value = enum_name(node) if node.output().type().kind() == "EnumType" else node.output().toIValue()
        require_literal(value)
        if is_a_number(value) and not may_be_written(node):
            self.constants += 1  # Translator.hold() numbers it too
            with unset_fake_temporarily():
                number = value.item()
            made = self.add_node(torch.ops.aten.scalar_tensor.default, [number], {"dtype": value.dtype})
            self.assign(node, [made])
            return
        self.values[node.output().debugName()] = pytree.tree_map_only(HELD, self.held, value)

    def held(self, _):
        self.constants += 1
        return self.get_attr(f"constant_{self.constants - 1}")

    def attribute(self, node):
        if self.value(node.input()) is not self.module:
            raise Uncovered("an attribute of an attribute")
        self.values[node.output().debugName()] = self.get_attr(attribute_name(node.s("name")))

    def get_attr(self, name):
        if name not in self.attributes:
            tensor = getattr(self.module, name)
            if not isinstance(tensor, torch.Tensor):
                raise Uncovered(f"an attribute of type {type(tensor).__name__}")
            fake = self.fake_mode.from_tensor(tensor, static_shapes=True)
            self.attributes[name] = Symbol(self.graph.get_attr(name), fake)
        return self.attributes[name]

    def construct(self, node):
        values = self.operands(node)
        make = {"prim::ListConstruct": list, "prim::TupleConstruct": tuple}.get(
            node.kind(), lambda parts: dict(zip(parts[::2], parts[1::2]))
        )
        self.values[node.output().debugName()] = make(values)

    def undefined(self, node):
        self.assign(node, [None])

    def unpack(self, node):
        self.assign(node, list(self.value(node.input())))

    def assign(self, node, values):
        for output, value in zip(node.outputs(), values, strict=True):
            self.values[output.debugName()] = value

    def assign_result(self, node, result):
        self.assign(node, result if node.outputsSize() > 1 else [result] * node.outputsSize())

    def number_to_tensor(self, node):
        number = self.value(node.input())
        if plain.is_number_again(node):
            self.assign(node, [number])
            return
        dtype = {bool: torch.bool, int: torch.int64, complex: torch.complex128}.get(type(number), torch.float64)
        self.assign(node, [self.add_node(torch.ops.aten.scalar_tensor.default, [number], {"dtype": dtype})])

    def absolute(self, node):
        number = self.operand(node, 0)
        made = isinstance(number, Symbol)
        self.assign(node, [self.add_node(torch.ops.aten.abs.default, [number], {}) if made else abs(number)])

    def plain(self, node, pattern):
        """Anything that is known without a Tensor's data."""
        values = self.operands(node)
        name = node.kind().split("::")[1]
        if compares_data(name, values) or (name in plain.FORMATS and has_symbols(values)):
            raise Uncovered(f"{node.kind()} of Tensors")
        if pattern != "{}" and reads_tensor(node, name):
            values = [value.fake if isinstance(value, Symbol) else value for value in values]
        self.assign_computed(node, pattern, values)

    def assign_computed(self, node, pattern, values):
        try:
            result = computed(pattern, values)
        except Exception as error:
            raise Uncovered(f"{node.kind()}: {type(error).__name__}") from error
        if any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(result)):
            raise Uncovered(f"{node.kind()} of a Tensor")
        self.assign_result(node, result)

    def operator(self, node):
        positional, by_name = call(node)
        arguments = [self.argument(node, index) for index in positional]
        keywords = {key: self.argument(node, index) for key, index in by_name.items()}
        target = getattr(torch, MADE[node.kind()]) if node.kind() in MADE else function(node)
        if not has_symbols([arguments, keywords]) and not any(map(plain.holds_tensor, node.outputs())):
            result = target(*arguments, **keywords)
        else:
            result = self.add_node(target, arguments, keywords)
        self.assign_result(node, result)

    def argument(self, node, index):
        """A dtype, layout or memory format that is only known as a number gets its word."""
        value = self.operand(node, index)
        kind = kind_of(schema_of(node).arguments[index])
        if kind and isinstance(value, int):
            return getattr(torch, TABLES[kind][value])
        return value

    def write(self, node, pattern):
        """Writes to a list or a dict."""
        values = self.operands(node)
        name = node.kind().removeprefix("aten::")
        if compares_data(name, values):
            raise Uncovered(f"{node.kind()} of Tensors")
        if name in plain.TAKING:
            self.assign_result(node, computed(pattern, values))
            return
        names = names_of(values)
        exec(pattern.format(*names), SPACE, names)
        self.assign(node, [values[0]] * node.outputsSize())

    def add_node(self, target, positional, by_name):
        """The node of an operator, as Symbols: one Tensor, or a list or tuple of them."""
        arguments = (positional, by_name)
        nodes, keywords = pytree.tree_map_only(Symbol, lambda symbol: symbol.node, arguments)
        fakes, fake_keywords = pytree.tree_map_only(Symbol, lambda symbol: symbol.fake, arguments)
        made = self.graph.call_function(target, tuple(nodes), keywords)
        return self.symbols(made, target(*fakes, **fake_keywords), target)

    def symbols(self, made, fake, target):
        if isinstance(fake, FakeTensor):
            if fake.layout != torch.strided:  # TorchInductor has no form for it: Dynamo leaves it to eager
                raise Uncovered(f"{target} gives a tensor of the layout {fake.layout}")
            return Symbol(made, fake)
        if isinstance(fake, (list, tuple)):
            parts = [
                self.symbols(self.graph.call_function(operator.getitem, (made, place)), part, target)
                for place, part in enumerate(fake)
            ]
            return parts if isinstance(fake, list) else tuple(parts)
        if fake is None:  # an optional result that is not there
            return None
        raise Uncovered(f"{target} gives a {type(fake).__name__}")

    def finish(self, result):
        """Ends the graph with its output. Returns the template of `result`."""
        result = pytree.tree_map_only(Symbol, lambda symbol: symbol.node, result)
        template = with_output(self.graph, result)
        self.read_attributes_where_they_are_used()
        self.graph.lint()
        return template

    def read_attributes_where_they_are_used(self):
        """TorchInductor numbers parameters in the order in which they are read: a program is the same graph to it
        wherever that is done, as it stands in a model and flattened."""
        read = {node: None for node in self.graph.nodes if node.op == "get_attr"}
        for node in list(self.graph.nodes):
            for operand in node.all_input_nodes:
                if operand in read:
                    node.prepend(operand)
                    del read[operand]
        for node in read:
            self.graph.erase_node(node)


def build(script, module, arguments):
    """The GraphModule and the template of its result; raises Uncovered for what only Dynamo can do.

    `module` holds the parameters, buffers and constants by the names that translate.py gives them; its parameters are
    those of the GraphModule.
    """
    try:
        return Builder(script, module, arguments).build()
    except Uncovered:
        raise
    except Exception as error:  # where running on fakes fails, Dynamo fails too, or knows what to do instead
        raise Uncovered(f"{type(error).__name__}: {error}") from error
