"""The planted failures that minifiers are compared on: FX graphs, and what each failure needs, as data.

Every graph is made of aten call_function nodes, placeholders first, which is the form that PyTorch's minifier works on.
What a failure needs is structural (an Oracle), so that no check depends on a backend: fails() asks it of an FX graph,
structural_oracle.cpp asks the same of one of our Programs.

Two families: `planted` (long chains and residual graphs, one bad operator repeated k times, counted whether or not its
value is used) and `models` (graphs that look like models, where only what the outputs depend on counts).
"""

import collections
import dataclasses
import operator
import random

import torch
import torch.fx as fx

aten = torch.ops.aten
# For each place of the needed nodes: PyTorch's minifier is to ask at least so many times our queries.
TIMES = {"one": 2, "adjacent": 2, "scattered": 20, "path": 20}
TRACED_AS = {aten.convolution.default: "aten::_convolution"}


@dataclasses.dataclass(frozen=True)
class Oracle:
    """The program fails while it holds this.

    count: at least `least` nodes of each operator. live: likewise, among the nodes that an output depends on.
    path: a live node of the second operator depends on a node of the first.
    """

    kind: str
    operators: tuple
    least: int = 1

    def as_data(self):
        """Operators by the names that TorchScript has once the graph was traced."""
        names = [TRACED_AS.get(target, target._schema.name) for target in self.operators]
        return {"kind": self.kind, "operators": names, "least": self.least}


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    build: object  # () -> (GraphModule, inputs)
    oracle: Oracle
    needed: int  # size of the smallest program that fails, found by hand, all edits allowed
    unit: str  # what is counted: "operators", or "nodes": operators, inputs and one for the output
    shape: str  # where the needed nodes are: "one", "adjacent", "scattered", "path"
    slow: bool = False  # PyTorch's minifier takes more than ten seconds


class Graph:
    """Collects nodes; finish() puts the placeholders first."""

    def __init__(self):
        self.nodes = fx.Graph()
        self.inputs = []

    def __len__(self):
        return len(self.nodes.nodes)

    def input(self, *shape):
        self.inputs.append(torch.randn(*shape) * 0.1)
        return self.nodes.placeholder(f"p{len(self.inputs) - 1}")

    def __call__(self, target, *operands):
        return self.nodes.call_function(target, operands)

    def finish(self, *outputs):
        self.nodes.output(outputs)
        ordered, copies = fx.Graph(), {}
        placeholders = [node for node in self.nodes.nodes if node.op == "placeholder"]
        others = [node for node in self.nodes.nodes if node.op != "placeholder"]
        for node in placeholders + others:
            copies[node] = ordered.node_copy(node, copies.__getitem__)
        module = fx.GraphModule(torch.nn.Module(), ordered)
        module.graph.lint()
        return module, self.inputs


# Planted: `needed` positions hold the bad operator.
PLANTED = aten.sin.default


def planted_chain(size, positions):
    graph = Graph()
    value = graph.input(8, 8)
    for i in range(size):
        value = graph(PLANTED if i in positions else (aten.neg, aten.relu)[i % 2].default, value)
    return graph.finish(value)


def planted_residual(size, positions):
    """Every third node adds a value from up to eleven nodes back; the value half way is an output too."""
    draw, graph = random.Random(0), Graph()
    values = [graph.input(8, 8)]
    for i in range(size):
        if i in positions:
            value = graph(PLANTED, values[-1])
        elif i % 3 == 2:
            back = draw.randrange(2, 12)
            value = graph(aten.add.Tensor, values[-1], values[max(0, len(values) - back)])
        else:
            value = graph(aten.relu.default, values[-1])
        values.append(value)
    return graph.finish(values[-1], values[size // 2])


def planted_rows():
    draw = random.Random(1)
    for size in (100, 400, 1000):
        for needed, kind in ((1, "one"), (2, "spread"), (5, "row"), (5, "spread")):
            scattered = kind == "spread"
            positions = draw.sample(range(size), needed) if scattered else range(size // 3, size // 3 + needed)
            shape = "scattered" if scattered else "one" if needed == 1 else "adjacent"
            for name, build in (("chain", planted_chain), ("resid", planted_residual)):
                yield Row(
                    f"{name}-{size}-{needed}{kind}",
                    lambda build=build, size=size, positions=frozenset(positions): build(size, positions),
                    Oracle("count", (PLANTED,), needed),
                    needed,
                    "operators",
                    shape,
                    slow=scattered and size > 100,
                )


# Models.
BAD = aten.erf.default
PARTNER = aten.log1p.default
UNARY = (aten.tanh.default, aten.sigmoid.default, aten.neg.default, aten.cos.default)


def unary_chain(size, planted):
    """`planted`: position -> operator."""
    graph = Graph()
    value = graph.input(4, 8)
    for i in range(size - 2):
        value = graph(planted.get(i, UNARY[i % 4]), value)
    return graph.finish(value)


def many_outputs(size=200, every=3):
    graph = Graph()
    value, outputs = graph.input(4, 8), []
    for i in range(size - 2):
        value = graph(BAD if i == size // 2 else UNARY[i % 4], value)
        if i % every == 0:
            outputs.append(value)
    return graph.finish(*outputs, value)


def linear_layers(size=200):
    """Matrix product, bias, tanh, over and over; one bad operator in the middle."""
    graph = Graph()
    value, placed = graph.input(4, 8), False
    while len(graph) + 7 <= size:
        if not placed and len(graph) * 2 >= size:
            value, placed = graph(BAD, value), True
        weight, bias = graph.input(8, 8), graph.input(8)
        value = graph(aten.tanh.default, graph(aten.add.Tensor, graph(aten.mm.default, value, weight), bias))
    while len(graph) < size - 1:
        value = graph(aten.neg.default, value)
    return graph.finish(value)


def wide_residual(size=400, branches=8):
    """Residual branches side by side that meet in one sum: a bad operator early in one, its partner late in another."""
    graph = Graph()
    start = graph.input(4, 8)
    values = [graph(aten.mul.Tensor, start, float(i + 1)) for i in range(branches)]
    early, late, i = False, False, 0
    while len(graph) + 2 <= size - branches:
        branch = i % branches
        target = (aten.sigmoid, aten.cos, aten.tanh)[i % 3].default
        if not early and branch == 1 and len(graph) >= 0.05 * size:
            target, early = BAD, True
        elif not late and branch == 6 and len(graph) >= 0.95 * size - 2 * branches:
            target, late = PARTNER, True
        values[branch] = graph(aten.add.Tensor, values[branch], graph(target, values[branch]))
        i += 1
    total = values[0]
    for value in values[1:]:
        total = graph(aten.add.Tensor, total, value)
    while len(graph) < size - 1:
        total = graph(aten.neg.default, total)
    return graph.finish(total)


def convolution_and_norm(graph, value, channels):
    weight = graph.input(channels, channels, 3, 3)
    scale, shift, mean, variance = (graph.input(channels) for _ in range(4))
    graph.inputs[-1].abs_().add_(1)
    value = graph(aten.convolution.default, value, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    norm = aten._native_batch_norm_legit_no_training.default
    return graph(operator.getitem, graph(norm, value, scale, shift, mean, variance, 0.1, 1e-5), 0)


def residual_network(size=300, channels=4):
    """Blocks of two convolutions with batch norm and a skip, then pooling and a linear layer; one bad operator."""
    graph = Graph()
    value, placed = graph.input(1, channels, 8, 8), False
    while len(graph) + 27 <= size:
        skip = value
        value = graph(aten.relu.default, convolution_and_norm(graph, value, channels))
        value = convolution_and_norm(graph, value, channels)
        if not placed and len(graph) >= 0.6 * size:
            value, placed = graph(BAD, value), True
        value = graph(aten.relu.default, graph(aten.add.Tensor, value, skip))
    value = graph(aten.mean.dim, value, [2, 3])
    weight, bias = graph.input(channels, 10), graph.input(10)
    value = graph(aten.addmm.default, bias, value, weight)
    while len(graph) < size - 1:
        value = graph(aten.neg.default, value)
    return graph.finish(value)


def model_rows():
    six = {int((i + 0.5) * 300 / 6): BAD for i in range(6)}
    one, pair = Oracle("live", (BAD,)), Oracle("live", (BAD, PARTNER))
    yield Row("chain_mlp_200", linear_layers, one, 3, "nodes", "one")
    yield Row("chain_unary_200", lambda: unary_chain(200, {100: BAD}), one, 3, "nodes", "one")
    # One input, the two operators, the output.
    yield Row("wide_residual_400", wide_residual, pair, 4, "nodes", "scattered", slow=True)
    yield Row("resnet_300_one_op", residual_network, one, 3, "nodes", "one")
    relu = Oracle("path", (aten.convolution.default, aten.relu.default))
    yield Row("resnet_300_conv_relu", residual_network, relu, 5, "nodes", "adjacent")
    scattered = Oracle("live", (BAD,), 6)
    yield Row("scatter6_300", lambda: unary_chain(300, six), scattered, 8, "nodes", "scattered", slow=True)
    yield Row("many_outputs_200", many_outputs, one, 3, "nodes", "one")
    far = Oracle("path", (BAD, PARTNER))
    yield Row("far_pair_dep_200", lambda: unary_chain(200, {10: BAD, 190: PARTNER}), far, 4, "nodes", "path")


def rows():
    return [*planted_rows(), *model_rows()]


def live_nodes(starts):
    """The nodes that these depend on, themselves included."""
    seen, stack = set(), list(starts)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.all_input_nodes)
    return seen


def fails(oracle, graph):
    nodes = graph.nodes
    if oracle.kind != "count":
        nodes = live_nodes(node for node in graph.nodes if node.op == "output")
    if oracle.kind == "path":
        source, sink = oracle.operators
        ends = (node for node in nodes if node.target is sink)
        return any(node.target is source for end in ends for node in live_nodes([end]))
    counts = collections.Counter(node.target for node in nodes if node.op == "call_function")
    return all(counts[target] >= oracle.least for target in oracle.operators)


def size_of(graph, unit):
    calls = sum(node.op == "call_function" for node in graph.nodes)
    return calls if unit == "operators" else len(graph.nodes)
