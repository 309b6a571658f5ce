"""A program in the FX dialect, as it lies in a TorchScript archive, as the torch.fx graph that it stands for."""

import operator

import torch
from torch.utils import _pytree as pytree

import fx_modes
import fx_transforms
from calls import Untranslatable, attribute_name, call, function, graph_of
from fx_call import Call
from fx_graph import Argument, Attribute, Output, with_output
from wide import Wide

PACKING = {"prim::ListConstruct": list, "prim::TupleConstruct": tuple}
UNPACKING = ("prim::ListUnpack", "prim::TupleUnpack")


def calls_python(script):
    """True if a program is one of the FX dialect."""
    return any(node.kind().startswith("fx::") for node in graph_of(script).nodes())


def holder_of(script):
    """An nn.Module with the parameters and buffers of a program, under names that Python takes."""
    holder = torch.nn.Module()
    for name, parameter in script.named_parameters():
        held = torch.nn.Parameter(parameter.detach(), parameter.requires_grad)
        holder.register_parameter(attribute_name(name), held)
    for name, buffer in script.named_buffers():
        holder.register_buffer(attribute_name(name), buffer)
    return holder.eval()


class Several:
    """The result of a call that gives several tensors: each is taken out where it is read. `paths` says where they are
    in a nested result."""

    def __init__(self, node, paths=None):
        self.node = node
        self.paths = paths

    def __getitem__(self, place):
        result = self.node
        for key in self.paths[place] if self.paths else [place]:
            result = self.node.graph.call_function(operator.getitem, (result, key))
        return result

    def parts(self, count):
        return [self[place] for place in range(count)]

    def whole(self):
        if self.paths:
            raise Untranslatable("a nested result that is used as a whole")
        return self.node


class Builder:
    """Translates the graph to torch.fx node by node. Nothing is run."""

    def __init__(self, script, holder):
        self.jit_graph = graph_of(script)
        self.holder = holder
        self.graph = torch.fx.Graph()
        self.values = {}  # by debug name
        self.attributes = {}
        self.constants = 0

    def build(self):
        own, *inputs = self.jit_graph.inputs()
        self.values[own.debugName()] = self.holder
        self.holder._modules.clear()  # those of another build
        for position, value in enumerate(inputs):
            node = self.graph.placeholder(f"argument_{position}")
            if value.type().kind() == "ListType":
                node = Several(node)
            self.values[value.debugName()] = node
        for node in self.jit_graph.nodes():
            self.take(node)
        (result,) = (self.values[value.debugName()] for value in self.jit_graph.outputs())
        template = with_output(self.graph, result.whole() if isinstance(result, Several) else result)
        self.graph.lint()
        return torch.fx.GraphModule(self.holder, self.graph), template

    def take(self, node):
        kind = node.kind()
        if kind == "prim::Constant":
            value = node.output().toIValue()
            self.assign(node, [pytree.tree_map_only(torch.Tensor, self.constant, value)])
        elif kind == "prim::GetAttr":
            self.assign(node, [self.attribute(attribute_name(node.s("name")))])
        elif kind in PACKING:
            self.assign(node, [PACKING[kind](self.operands(node))])
        elif kind in UNPACKING:
            (packed,) = self.operands(node)
            count = node.outputsSize()
            self.assign(node, packed.parts(count) if isinstance(packed, Several) else list(packed))
        elif kind == "aten::__getitem__":
            packed, place = self.operands(node)
            self.assign(node, [packed[place]])
        elif kind.startswith("fx::"):
            self.python_call(node)
        else:
            self.operator(node)

    def operands(self, node):
        return [self.values[value.debugName()] for value in node.inputs()]

    def assign(self, node, values):
        for output, value in zip(node.outputs(), values, strict=True):
            self.values[output.debugName()] = value

    def constant(self, tensor):
        name = f"constant_{self.constants}"
        self.constants += 1
        self.holder.register_buffer(name, tensor, persistent=False)
        return self.attribute(name)

    def attribute(self, name):
        if name not in self.attributes:
            self.attributes[name] = self.graph.get_attr(name)
        return self.attributes[name]

    def python_call(self, node):
        text, *operands = self.operands(node)
        operands = [operand.whole() if isinstance(operand, Several) else operand for operand in operands]
        made = Call(text, operands)
        if made.is_hook and made.args[0].op == "placeholder":
            raise Untranslatable("a hook of an input, which Dynamo keeps out of its graphs")
        result = made.add_to(self.graph, self.holder)
        given = Several(result, made.parts) if "tensors" in node.kind() else result
        self.assign(node, [given] * node.outputsSize())

    def operator(self, node):
        """An operator of TorchScript that the reduction has put in."""
        positional, by_name = call(node)
        operands = self.operands(node)
        arguments = tuple(operands[index] for index in positional)
        keywords = {name: operands[index] for name, index in by_name.items()}
        if node.outputsSize() != 1 or node.output().type().kind() != "TensorType":
            raise Untranslatable(f"{node.kind()} among calls of Python")
        made = self.graph.call_function(function(node), arguments, keywords)
        made.meta["modes"] = []
        self.assign(node, [made])


def with_results(graph, template):
    """The graph with what forward returns for its result: the template filled in."""
    placeholders = list(graph.find_nodes(op="placeholder"))
    returned = graph.output_node()
    results = returned.args[0]

    def leaf(value):
        if isinstance(value, Output):
            return results[value.position]
        if isinstance(value, Argument):
            return placeholders[value.position]
        if isinstance(value, Attribute):
            with graph.inserting_before(returned):
                return graph.get_attr(value.name)
        return value

    filled = pytree.tree_map(leaf, template)
    returned.args = (filled if isinstance(filled, tuple) else (filled,),)
    return graph


def in_order_of_use(graph):
    """Puts the placeholders where Dynamo puts them: each comes as it is first used, and none that is not. The order in
    which TorchInductor copies and writes depends on it."""
    used = dict.fromkeys(
        operand for node in graph.nodes for operand in node.all_input_nodes if operand.op == "placeholder"
    )
    for node in graph.find_nodes(op="placeholder"):
        if node not in used:
            graph.erase_node(node)
    for node in reversed(used):
        first = next(iter(graph.nodes))
        if node is not first:
            first.prepend(node)


def build(script, holder, _arguments):
    """The GraphModule that Dynamo would hand on where gradients are as they are now, and the template of its result.
    Raises Untranslatable."""
    return built(script, holder, fx_transforms.expand)


def build_for_eager(script, holder, _arguments):
    """Does what build() does, with levels of torch.func as calls, so that it runs at any depth of levels."""
    return built(script, holder, lambda _: None)


def built(script, holder, expand):
    """`expand(graph)` changes the graph before its placeholders are ordered and its modes are switched."""
    graph_module, template = as_it_stands(script, holder)
    expand(graph_module.graph)
    in_order_of_use(graph_module.graph)
    return fx_modes.switching(graph_module), template


def as_it_stands(script, holder):
    """The GraphModule before any change, with a placeholder for each argument of the program in their order, and the
    template of its result. Raises Untranslatable."""
    try:
        return Builder(script, holder).build()
    except Untranslatable:
        raise
    except (ImportError, AttributeError, KeyError, ValueError) as error:
        raise Untranslatable(f"a call of this program cannot be found here: {error}") from error


def in_float64(graph_module):
    """Calls it with floating dtypes among the arguments of its calls widened, by the rule of PyTorch's own float64
    reference, and with those of the operators that they call."""
    in_float64_itself = any(node.kwargs.get("dtype") is torch.float64 for node in graph_module.graph.nodes)
    widened = torch._dynamo.debug_utils.cast_dtype_args_to_fp64(graph_module)

    def call(*arguments):
        with Wide(narrow_draws=not in_float64_itself):
            return widened(*arguments)

    return call
