"""A straight-line TorchScript graph as a torch.fx graph, node by node, without tracing: what TorchInductor is handed
are the operators of the candidate.

Plain numbers, lists and shapes are known once the inputs are, and are computed while the graph is made, as Dynamo does
it with static shapes; a fake run beside it says what shapes and types intermediate values have.
"""

import math
import operator
from dataclasses import dataclass

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import _pytree as pytree

from translate import (
    PRIM,
    Untranslatable,
    attribute_name,
    call,
    function,
    graph_of,
    is_number_again,
    literal,
    scalar_pattern,
    writes_to_list,
)


class Uncovered(Untranslatable):
    """What is left to Dynamo; the message names it."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """A Tensor of the graph: the node that makes it, and one without data of its shape and type."""

    node: torch.fx.Node
    fake: torch.Tensor


@dataclass(frozen=True)
class Output:
    """A leaf of what forward returns: the position of a result of the graph."""

    position: int


@dataclass(frozen=True)
class Argument:
    """A leaf of what forward returns: what was given to it, itself."""

    position: int


@dataclass(frozen=True)
class Attribute:
    name: str


def computed(pattern, values):
    """What a piece of Python of translate.py gives for these values."""
    names = [f"v{index}" for index in range(len(values))]
    return eval(pattern.format(*names), {"math": math, "torch": torch}, dict(zip(names, values)))


class Builder:
    """Interprets a graph: operators on tensors become nodes, everything else is a value at once."""

    def __init__(self, script, module, arguments):
        self.jit_graph = graph_of(script)
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

    def values_of(self, values):
        return [self.value(value) for value in values]

    def node(self, node):
        kind = node.kind()
        special = {
            "prim::Constant": self.constant, "prim::GetAttr": self.attribute, "prim::ListConstruct": self.construct,
            "prim::TupleConstruct": self.construct, "prim::DictConstruct": self.construct,
            "prim::ListUnpack": self.unpack, "prim::TupleUnpack": self.unpack,
            "prim::NumToTensor": self.number_to_tensor,
        }.get(kind)  # fmt: skip
        if special:
            special(node)
        elif kind in PRIM:
            self.plain(node, PRIM[kind])
        elif node.schema() == "(no schema)" or kind.startswith("prim::") or next(node.blocks(), None) is not None:
            raise Uncovered(kind)
        else:
            self.operator(node)

    def constant(self, node):
        value = node.output().toIValue()
        if isinstance(value, torch.Tensor):
            value = self.get_attr(f"constant_{self.constants}")
            self.constants += 1
        else:
            literal(value)  # what Python has no word for is no value here either
        self.values[node.output().debugName()] = value

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
        values = self.values_of(node.inputs())
        make = {"prim::ListConstruct": list, "prim::TupleConstruct": tuple}.get(
            node.kind(), lambda parts: dict(zip(parts[::2], parts[1::2]))
        )
        self.values[node.output().debugName()] = make(values)

    def unpack(self, node):
        self.assign(node, list(self.value(node.input())))

    def assign(self, node, values):
        for output, value in zip(node.outputs(), values, strict=True):
            self.values[output.debugName()] = value

    def number_to_tensor(self, node):
        number = self.value(node.input())
        if is_number_again(node):
            self.assign(node, [number])
            return
        dtype = torch.int64 if isinstance(number, int) else torch.float64
        self.assign(node, [self.add_node(torch.ops.aten.scalar_tensor.default, [number], {"dtype": dtype})])

    def plain(self, node, pattern):
        """Anything that is known without a Tensor's data."""
        values = self.values_of(node.inputs())
        if pattern != "{}":  # that only hands on what it is given
            values = [value.fake if isinstance(value, Symbol) else value for value in values]
        try:
            result = computed(pattern, values)
        except Exception as error:
            raise Uncovered(f"{node.kind()}: {type(error).__name__}") from error
        if any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(result)):
            raise Uncovered(f"{node.kind()} of a Tensor")
        self.assign(node, [result] if node.outputsSize() else [])

    def operator(self, node):
        pattern = scalar_pattern(node)
        if writes_to_list(node):
            self.list_statement(node)
        elif node.kind() == "aten::__getitem__":
            self.assign(node, [computed(pattern, self.values_of(node.inputs()))])
        elif pattern is not None:
            self.plain(node, pattern)
        else:
            positional, by_name = call(node)
            result = self.add_node(
                function(node),
                [self.argument(*given) for given in positional],
                {key: self.argument(*given) for key, given in by_name.items()},
            )
            self.assign(node, result if node.outputsSize() > 1 else [result] * node.outputsSize())

    def argument(self, word, value):
        return getattr(torch, word) if word else self.value(value)

    def list_statement(self, node):
        first, *rest = self.values_of(node.inputs())
        if node.kind() == "aten::_set_item":
            first[rest[0]] = rest[1]
        else:
            getattr(first, node.kind().removeprefix("aten::"))(*rest)
        self.assign(node, [first] * node.outputsSize())

    def add_node(self, target, positional, by_name):
        """The node of an operator, as Symbols: one Tensor, or a list or tuple of them."""
        arguments = (positional, by_name)
        nodes, keywords = pytree.tree_map_only(Symbol, lambda symbol: symbol.node, arguments)
        fakes, fake_keywords = pytree.tree_map_only(Symbol, lambda symbol: symbol.fake, arguments)
        made = self.graph.call_function(target, tuple(nodes), keywords)
        return self.symbols(made, target(*fakes, **fake_keywords), target)

    def symbols(self, made, fake, target):
        if isinstance(fake, FakeTensor):
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
        """The graph returns each Tensor once, and none that it was given."""
        results = []

        def leaf(value):
            if not isinstance(value, Symbol):
                return value
            if value.node.op == "placeholder":
                return Argument(int(value.node.target.removeprefix("argument_")))
            if value.node.op == "get_attr":
                return Attribute(value.node.target)
            if value.node not in results:
                results.append(value.node)
            return Output(results.index(value.node))

        template = pytree.tree_map(leaf, result, is_leaf=lambda value: isinstance(value, Symbol))
        self.graph.output(tuple(results))
        for node in reversed(self.graph.nodes):
            if node.target is operator.getitem and not node.users:
                self.graph.erase_node(node)
        self.graph.lint()
        return template


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


class FxCompiled:
    """Compiles when it is first called, as torch.compile does, and again for inputs of other shapes or other modes."""

    def __init__(self, script, module, compiler):
        self.script = script
        self.module = module
        self.compiler = compiler
        self.entries = {}

    def __call__(self, *arguments):
        key = situation(arguments)
        if key not in self.entries:
            self.entries[key] = self.compile(arguments)
        graph, template = self.entries[key]
        results = graph(*arguments) if graph else ()

        def leaf(value):
            if isinstance(value, Output):
                return results[value.position]
            if isinstance(value, Argument):
                return arguments[value.position]
            return getattr(self.module, value.name) if isinstance(value, Attribute) else value

        return pytree.tree_map(leaf, template)

    def compile(self, arguments):
        module, template = build(self.script, self.module, arguments)
        if not any(node.op == "call_function" for node in module.graph.nodes):
            return None, template
        context = torch._guards.TracingContext(FakeTensorMode())
        with torch._dynamo.utils.preserve_rng_state(), torch._guards.tracing(context):
            try:
                return self.compiler(module, list(arguments)), template
            except (torch._dynamo.exc.SkipFrame, *torch._dynamo.exc.exceptions_allowed_to_be_fallback) as error:
                raise Uncovered(f"{type(error).__name__}: {error}") from error


def situation(arguments):
    """What Dynamo would guard."""
    autocast = [
        (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in ("cpu", "cuda")
    ]
    tensors = [
        (a.shape, a.stride(), a.storage_offset(), a.dtype, a.device, a.requires_grad)
        for a in arguments
        if isinstance(a, torch.Tensor)
    ]
    return repr((torch.is_grad_enabled(), autocast, tensors))
