"""The programs of two_models_oracle.py: those of fixtures/cases, and random ones, written as torch.fx graphs.

A random program is made by running it: an operator that raises for the values at hand is left out. Its backend is a
real one, often with one of the known bugs of torch 2.13.0 planted in the graph, or "noise": eager, and then something
wrong that is saved beside the program, so that C++ can do the same wrong.
"""

import contextlib
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import List

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn

CALLS = 3  # of the optimised program
HALF_TYPES = [torch.float16, torch.bfloat16]
RUNS_THE_MODULE = ["jit", "nnc", "autocast", "noise"]  # the others compile a copy


def clone(value):
    """A copy that shares nothing with the original; requires_grad is kept."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(clone(part) for part in value)
    return value


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return [tensor for part in parts for tensor in tensors_in(part)]


# ----------------------------------------------------------------------------------------------------------------------
# The fp64 reference of a TorchScript module


SCALAR_TYPES = {5: torch.float16, 6: torch.float32, 7: torch.float64, 15: torch.bfloat16}
SCALAR_TYPES |= {8: torch.complex32, 9: torch.complex64, 10: torch.complex128}
NUMBERS = {dtype: number for number, dtype in SCALAR_TYPES.items()}


def widened(dtype):
    return torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else dtype


def widen_value(value):
    if isinstance(value, torch.Tensor):
        return value.detach().to(widened(value.dtype), copy=True).requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(widen_value(part) for part in value)
    return value


def constant_dtype(value):
    """The number of the dtype that a value of the graph always has; None where it is anything else."""
    while value.node().kind() == "prim::unchecked_cast":
        value = next(value.node().inputs())
    number = value.toIValue() if value.node().kind() == "prim::Constant" else None
    return number if number in SCALAR_TYPES else None


def widen_graph(graph, block):
    """Does to TorchScript's graph what cast_dtype_args_to_fp64 does to a torch.fx graph."""
    for node in list(block.nodes()):
        for inner in node.blocks():
            widen_graph(graph, inner)
        if node.kind() == "prim::Constant" and node.hasAttribute("value") and node.kindOf("value") == "t":
            node.t_("value", node.t("value").to(widened(node.t("value").dtype)))
            node.output().setType(torch._C.TensorType.get())
        if not node.kind().startswith("aten::"):
            continue
        arguments = torch._C.parse_schema(node.schema()).arguments
        for index, (argument, value) in enumerate(zip(arguments, list(node.inputs()))):
            number = constant_dtype(value) if argument.name == "dtype" else None
            if number is not None:
                with graph.insert_point_guard(node):
                    node.replaceInput(index, graph.insertConstant(NUMBERS[widened(SCALAR_TYPES[number])]))


def widen_script(module):
    graph = module._c._get_method("forward").graph
    torch._C._jit_pass_inline(graph)
    widen_graph(graph, graph)
    for tensor in [*module.parameters(), *module.buffers()]:
        tensor.data = tensor.data.to(widened(tensor.dtype))
    return module


# ----------------------------------------------------------------------------------------------------------------------
# Backends


def frozen(module):
    module = torch.jit.freeze(module.eval())
    return in_interpreter(module)


def in_interpreter(function):
    def run(*arguments):
        with torch.jit.optimized_execution(False):
            return function(*arguments)

    return run


def attributes_to_constants(graph, block, objects, reads):
    for node in list(block.nodes()):
        for inner in node.blocks():
            attributes_to_constants(graph, inner, objects, reads)
        if node.kind() != "prim::GetAttr":
            continue
        value = objects[node.inputsAt(0).debugName()].getattr(node.s("name"))
        if isinstance(value, torch._C.ScriptObject):  # read from below
            objects[node.output().debugName()] = value
            reads.append(node)
            continue
        with graph.insert_point_guard(node):
            constant = graph.insertConstant(value.detach() if isinstance(value, torch.Tensor) else value)
        node.output().replaceAllUsesWith(constant)
        node.destroy()


def with_pass(module, run_pass):
    """One pass on the flat graph, with parameters as constants."""
    graph = module._c._get_method("forward").graph.copy()
    torch._C._jit_pass_inline(graph)
    reads = []
    attributes_to_constants(graph, graph, {next(graph.inputs()).debugName(): module._c}, reads)
    for node in reversed(reads):
        node.destroy()
    graph.eraseInput(0)
    run_pass(graph)
    return in_interpreter(torch._C._create_function_from_graph("forward", graph))


def compile_nnc(module):
    torch._C._jit_set_te_must_use_llvm_cpu(False)
    torch._C._jit_override_can_fuse_on_cpu(True)
    torch._C._jit_set_texpr_fuser_enabled(True)
    return module


def compile_static(module):
    return torch._C._jit_to_static_module(torch.jit.freeze(module.eval(), optimize_numerics=False)._c)


BACKENDS = {
    "jit": lambda module: module,
    "autocast": lambda module: module,
    "nnc": compile_nnc,
    "freeze": frozen,
    "optimize-for-inference": lambda m: in_interpreter(torch.jit.optimize_for_inference(torch.jit.freeze(m.eval()))),
    "static-runtime": compile_static,
    "pass:peephole": lambda module: with_pass(module, torch._C._jit_pass_peephole),
    "pass:remove-inplace-ops": lambda module: with_pass(module, torch._C._jit_pass_remove_inplace_ops),
    "pass:fuse-add-relu": lambda module: with_pass(module, torch._C._jit_pass_fuse_add_relu),
}


class Noise:
    """Eager, and then something wrong, from the `from_call`th call on. NoiseBackend of two_models_test.cpp does the
    same.

    leaves: for tensor i of the output (action, tensor): "add" it, "replace" by it, cast to its "dtype", scale the
    "gradient" by one plus it. structure: "twice" (the output becomes a pair), "none". buffer, input: (which, contents
    afterwards).
    """

    def __init__(self, module, noise):
        self.module, self.noise, self.calls, self.leaf = module, noise, 0, 0

    def change(self, value):
        if isinstance(value, torch.Tensor):
            self.leaf += 1
            action, tensor = self.noise["leaves"].get(self.leaf - 1, ("", None))
            if action == "add":
                return value + tensor
            if action == "replace":
                return tensor.clone()
            if action == "dtype":
                return value.to(tensor.dtype)
            if action == "gradient":
                return value + (value - value.detach()) * tensor
            return value
        if isinstance(value, (list, tuple)):
            return type(value)([self.change(part) for part in value])
        if isinstance(value, dict):
            return {key: self.change(part) for key, part in value.items()}
        return value

    def __call__(self, *arguments):
        self.calls += 1
        with torch.jit.optimized_execution(False):
            output = self.module(*arguments)
        if self.calls < self.noise["from_call"]:
            return output
        if self.noise["raises"]:
            raise RuntimeError("the backend raises")
        self.leaf = 0
        output = self.change(output)
        if self.noise["buffer"]:
            name, contents = self.noise["buffer"]
            dict(self.module.named_buffers())[name].data.copy_(contents)
        if self.noise["input"]:
            index, contents = self.noise["input"]
            arguments[index].data.copy_(contents)
        if self.noise["structure"] == "twice":
            return (output, output)
        return None if self.noise["structure"] == "none" else output


NO_NOISE = {"from_call": 1, "leaves": {}, "structure": "", "buffer": (), "input": (), "raises": False}


# ----------------------------------------------------------------------------------------------------------------------
# One program


class Program:
    def __init__(self, name, path, inputs, backend, grad=False, only_forward=False, ignore_non_fp=False, tol=1e-3):
        self.name, self.path, self.inputs, self.backend = name, str(path), list(inputs), backend
        self.grad, self.only_forward, self.ignore_non_fp, self.tol = grad, only_forward, ignore_non_fp, tol
        self.fx = None  # the torch.fx graph module that it was made from
        self.noise = dict(NO_NOISE)
        self.runs_the_module = backend in RUNS_THE_MODULE

    def description(self):
        names = ["name", "path", "backend", "grad", "only_forward", "ignore_non_fp", "tol"]
        return {name: getattr(self, name) for name in names}

    def load(self):
        return torch.jit.load(self.path).eval()

    def clear_gradients(self, module):
        for parameter in module.parameters():
            parameter.requires_grad_(self.grad and parameter.requires_grad)
        return module

    def compile(self, module):
        return Noise(module, self.noise) if self.backend == "noise" else BACKENDS[self.backend](module)

    @contextlib.contextmanager
    def settings(self, double):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.backend == "autocast" and not double):
            yield


def read_case(cases, case):
    folder = Path(cases) / case["case"]
    inputs = torch.load(folder / "inputs.pt", weights_only=True)
    return Program(case["case"], folder / "failing.pt", inputs, case["backend"], grad=case["grad"])


# ----------------------------------------------------------------------------------------------------------------------
# Random graphs


def chance(probability):
    return random.random() < probability


def pick(*choices):
    return random.choice(choices)


def part_of(value, name):
    """Replaces every Made in a structure by its node or its tensor."""
    return fx.node.map_aggregate(value, lambda part: getattr(part, name) if isinstance(part, Made) else part)


@dataclass
class Made:
    """A value of the graph, and what it is when the graph runs."""

    node: fx.Node
    tensor: Tensor


class Builder:
    """A torch.fx graph that is run while it is built."""

    def __init__(self, grad):
        self.graph, self.root, self.grad = fx.Graph(), nn.Module(), grad
        self.inputs, self.values, self.operators = [], [], 0

    def made(self, node, value):
        """Takes in a tensor, or a list or tuple of tensors part by part."""
        if isinstance(value, torch.Tensor):
            self.values.append(Made(node, value))
        else:
            for index, part in enumerate(value):
                self.made(self.graph.call_function(operator.getitem, (node, index)), part)
        return self.values[-1]

    def input(self, value, type_expr=None):
        node = self.graph.placeholder(f"x{len(self.inputs)}", type_expr=type_expr)
        self.inputs.append(value)
        return self.made(node, clone(value))

    def attribute(self, value, parameter=False):
        name = f"{'weight' if parameter else 'buffer'}{len(self.root.state_dict())}"
        if parameter:
            self.root.register_parameter(name, nn.Parameter(value))
        else:
            self.root.register_buffer(name, value)
        return self.made(self.graph.get_attr(name), clone(value).requires_grad_(parameter and self.grad))

    def apply(self, target, *args, **kwargs):
        """Adds one operator, a function or the name of a method; the result, or None where it raises."""
        if any(arg is None for arg in args):
            return None
        nodes, nodes_by_name = (part_of(given, "node") for given in (args, kwargs))
        live, live_by_name = (part_of(given, "tensor") for given in (args, kwargs))
        try:
            with torch.set_grad_enabled(self.grad):
                function = getattr(torch.Tensor, target) if isinstance(target, str) else target
                result = function(*live, **live_by_name)
        except Exception:
            return None
        self.operators += 1
        call = self.graph.call_method if isinstance(target, str) else self.graph.call_function
        return self.made(call(target, nodes, nodes_by_name), result)

    def some(self, wanted=lambda tensor: True):
        """A value of those made so far, the last ones likelier; None where none is wanted."""
        fitting = [value for value in self.values if value.tensor.numel() <= 3000 and wanted(value.tensor)]
        return random.choice(fitting[-5:] if chance(0.7) else fitting) if fitting else None


def is_float(tensor):
    return tensor.is_floating_point()


POINTWISE = [torch.relu, torch.tanh, torch.sigmoid, torch.exp, torch.sin, torch.abs, torch.neg, torch.square, torch.erf]
POINTWISE += [torch.sqrt, torch.log, torch.reciprocal, torch.rsqrt, torch.floor, torch.round, torch.sign, torch.expm1]
POINTWISE += [F.gelu, F.silu, F.softplus, F.leaky_relu, F.hardshrink, torch.logical_not, torch.isnan, torch.clone]
BINARY = [torch.add, torch.sub, torch.mul, torch.div, torch.add, torch.mul, torch.maximum, torch.minimum, torch.atan2]
BINARY += [torch.gt, torch.lt, torch.eq, torch.ne, torch.logical_and, torch.min, torch.max, torch.fmod, torch.remainder]
IN_PLACE = ["add_", "mul_", "sub_", "clamp_min_", "fill_", "pow_"]
CASTS = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float32, torch.int64]


def add_pointwise(b):
    b.apply(pick(*POINTWISE), b.some())


def add_binary(b):
    b.apply(pick(*BINARY), b.some(), b.some() if chance(0.7) else pick(0, 1, 2, 0.5, -1.5, 1e-3))


def add_reduction(b):
    value = b.some(lambda t: t.dim() > 0)
    if value is None:
        return
    dim = random.randrange(-value.tensor.dim(), value.tensor.dim())
    which = pick("sum", "mean", "amax", "amin", "prod", "cumsum", "logsumexp", "var", "argmax", "max", "norm", "all")
    if which in ("sum", "mean", "prod", "cumsum") and chance(0.4):
        b.apply(getattr(torch, which), value, dim, dtype=pick(*CASTS))
    elif which == "sum" and chance(0.5):
        b.apply(torch.sum, value)
    elif which == "norm":
        b.apply(torch.linalg.vector_norm, value, 2, dim)
    else:
        b.apply(getattr(torch, which), value, dim)


def add_softmax(b):
    value = b.some(lambda t: is_float(t) and t.dim() > 0)
    function = pick(torch.softmax, torch.log_softmax, F.softmax, F.log_softmax)
    b.apply(function, value, dim=-1, **({"dtype": pick(*CASTS[:4])} if chance(0.5) else {}))


def parameter(b, *shape, like):
    return b.attribute((torch.randn(*shape) * 0.5).to(like.dtype), parameter=True)


def add_linear(b):
    value = b.some(lambda t: is_float(t) and t.dim() > 0 and 0 < t.shape[-1] <= 64)
    if value is None:
        return
    out, inp = pick(2, 4, 5), value.tensor.shape[-1]
    kind = pick("linear", "matmul", "linear")
    if kind == "linear":
        b.apply(F.linear, value, parameter(b, out, inp, like=value.tensor), parameter(b, out, like=value.tensor))
    else:
        b.apply(torch.matmul, value, parameter(b, inp, out, like=value.tensor))


def add_norm(b):
    value = b.some(lambda t: is_float(t) and t.dim() > 1)
    if value is None:
        return
    if chance(0.4):
        b.apply(F.layer_norm, value, [value.tensor.shape[-1]])
        return
    channels, like = value.tensor.shape[1], value.tensor
    mean, var = (
        b.attribute(torch.randn(channels).to(like.dtype)),
        b.attribute(torch.rand(channels).to(like.dtype) + 0.5),
    )
    scale = parameter(b, channels, like=like)
    b.apply(F.batch_norm, value, mean, var, scale, parameter(b, channels, like=like), chance(0.3))


def add_conv(b):
    value = b.some(lambda t: is_float(t) and t.dim() == 4)
    if value is not None:
        weight = parameter(b, 4, value.tensor.shape[1], 1, 1, like=value.tensor)
        result = b.apply(F.conv2d, value, weight, parameter(b, 4, like=value.tensor))
        if result and chance(0.5):
            b.apply(torch.relu, result)


def add_view(b):
    value = b.some(lambda t: t.dim() > 0)
    if value is None:
        return
    which = pick(
        "reshape", "transpose", "unsqueeze", "select", "narrow", "flip", "expand", "cat", "stack", "contiguous"
    )
    if which == "reshape":
        b.apply("reshape", value, -1)
    elif which == "transpose":
        b.apply("transpose", value, 0, -1)
    elif which in ("unsqueeze", "contiguous"):
        b.apply(which, value, *([0] if which == "unsqueeze" else []))
    elif which == "select":
        b.apply("select", value, 0, 0)
    elif which == "narrow":
        b.apply("narrow", value, -1, 0, 1)
    elif which == "flip":
        b.apply(torch.flip, value, [0])
    elif which == "expand":
        b.apply("expand", value, 2, *value.tensor.shape)
    else:
        b.apply(getattr(torch, which), [value, value if chance(0.5) else b.some()])


def add_cast(b):
    value, dtype = b.some(), pick(*CASTS)
    kind = random.random()
    if kind < 0.6:
        b.apply(torch.ops.aten._to_copy, value, dtype=dtype)
    elif kind < 0.8:
        b.apply("to", value, dtype)
    elif kind < 0.9:
        b.apply(pick("half", "float", "double"), value)
    else:
        b.apply(pick(torch.zeros_like, torch.ones_like), value, dtype=dtype)


def add_in_place(b):
    value = b.some()
    if chance(0.4):
        value = random.choice(b.values[: len(b.inputs) + 2])
    which = pick(*IN_PLACE, "copy_", "relu_", "add_")
    if which == "relu_":
        b.apply(torch.relu_, value)
    elif which == "copy_":
        b.apply("copy_", value, b.some())
    else:
        b.apply(which, value, b.some() if which in ("add_", "mul_", "sub_") and chance(0.5) else pick(0.5, 1, 2))


def add_mask(b):
    value = b.some(is_float)
    mask = b.apply(pick(torch.gt, torch.le), value, pick(0, 0.3)) if value else None
    if mask is None:
        return
    which = pick("where", "masked_fill", "mul", "any", "to")
    if which == "where":
        b.apply(torch.where, mask, value, b.some(is_float))
    elif which == "masked_fill":
        b.apply("masked_fill", value, mask, pick(0.0, -1.0, 1e38))
    elif which == "mul":
        b.apply(torch.mul, mask, pick(1, value))
    elif which == "any":
        b.apply(torch.any, mask)
    else:
        b.apply(torch.ops.aten._to_copy, mask, dtype=pick(torch.float32, torch.int64, torch.float16))


def add_complex(b):
    value = b.some(lambda t: t.dtype in (torch.float32, torch.float64, torch.complex64))
    if value is None:
        return
    result = b.apply(torch.mul, value, value) if value.tensor.is_complex() else b.apply(torch.complex, value, value)
    if result and chance(0.7):
        b.apply(pick(torch.abs, torch.view_as_real, torch.real), result)


STEPS: dict[Callable, float] = {
    add_pointwise: 6,
    add_binary: 6,
    add_reduction: 3,
    add_softmax: 1,
    add_linear: 2,
    add_norm: 1,
    add_conv: 1,
}
STEPS |= {add_view: 3, add_cast: 3, add_in_place: 3, add_mask: 2, add_complex: 0.3}


# Known bugs of torch 2.13.0 (fixtures/cases has a model of each), to be planted among other operators.


def plant_bool_times_one(b):
    x = b.input(torch.randn(8))
    masks = [b.apply(torch.mul, b.apply(torch.gt, x, bound), 1) for bound in (0, 0.5)]
    b.apply(torch.add, *masks)


def plant_bool_plus_zero(b):
    x = b.input(torch.randn(8))
    masks = [b.apply(torch.add, b.apply(torch.gt, x, bound), 0) for bound in (0, 0.5)]
    b.apply(torch.add, *masks)


def plant_type_as(b):
    x = b.input(torch.randn(4, 6))
    h = b.apply(torch.mul, x, 2.0)
    b.apply("add_", b.apply("type_as", h, x), 1.0)
    b.apply(torch.add, h, x)


def plant_einsum(b):
    x = b.input(torch.randn(4, 6))
    h = b.apply(torch.mul, x, 2.0)
    a = b.apply(torch.mul, b.apply(torch.add, h, 1), 2)
    view = b.apply("select", b.apply(torch.einsum, "ij->ji", [h]), 0, 0)
    b.apply("fill_", view, 7.0)
    b.apply(torch.add, a, b.apply(torch.mul, b.apply(torch.add, h, 1), 3))


def plant_tie(b):
    x, y = (b.input(torch.ones(10).requires_grad_(b.grad)) for _ in range(2))
    b.apply(torch.mul, b.apply(pick(torch.min, torch.max), x, y), x)


def plant_threshold(b):
    x = b.input(torch.tensor([-2.0, 0.0, 0.5, 1.0, 2.0]).requires_grad_(b.grad))
    b.apply(torch.mul, b.apply(F.threshold, b.apply(torch.mul, x, 1.0), 0.5, 0.1), 2.0)


def plant_linear_batch_norm(b):
    x = b.input(torch.randn(2, 4, 5))
    h = b.apply(F.linear, x, parameter(b, 4, 5, like=x.tensor), parameter(b, 4, like=x.tensor))
    mean, var = b.attribute(torch.randn(4)), b.attribute(torch.rand(4) + 0.5)
    b.apply(F.batch_norm, h, mean, var, parameter(b, 4, like=x.tensor), parameter(b, 4, like=x.tensor), False)


def plant_conv_mul_double(b):
    x = b.input(torch.randn(2, 3, 4, 4))
    h = b.apply(F.conv2d, x, parameter(b, 4, 3, 3, 3, like=x.tensor), parameter(b, 4, like=x.tensor))
    b.apply(torch.mul, h, b.attribute(torch.rand(1, 4, 1, 1).double() + 0.5))


def plant_conv_clamp(b):
    x = b.input(torch.randn(2, 3, 6, 6))
    h = b.apply(F.conv2d, x, parameter(b, 4, 3, 3, 3, like=x.tensor), parameter(b, 4, like=x.tensor))
    b.apply(torch.clamp, h, min=0.1)


def plant_int_clamp(b):
    h = b.apply(torch.clamp, b.apply(torch.add, b.input(torch.tensor([-5, -2, -1, 0, 3, 7])), 1), min=0.5)
    b.apply(torch.add, h, h)


def plant_hardshrink(b):
    x = b.input(torch.tensor([1.0, -1.0, 0.1, float("nan"), 2.0]))
    h = b.apply(F.hardshrink, b.apply(torch.mul, x, 2.0), 0.7)
    b.apply(torch.add, h, h)


def plant_round(b):
    h = b.apply(torch.round, b.input(torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 0.2])))
    b.apply(torch.add, b.apply(torch.mul, h, 2), h)


def plant_int_floor(b):
    h = b.apply(torch.floor, b.input(torch.arange(-3, 4)))
    b.apply(torch.add, b.apply(torch.mul, h, 2), h)


def plant_int_div(b):
    x = b.apply(torch.mul, b.input(torch.arange(1, 7)), 2)
    b.apply(torch.div, x, b.input(torch.tensor([3])))


def plant_int_sigmoid(b):
    b.apply(torch.add, b.apply(torch.sigmoid, b.apply(torch.mul, b.input(torch.arange(-3, 4)), 2)), 1)


def plant_detach(b):
    h = b.apply(torch.mul, b.input(torch.randn(4, 6)), 2)
    d = b.apply("detach", h)
    b.apply("t_", d)
    b.apply(torch.add, h, 1)


def plant_row_write(b):
    x = b.input(torch.randn(4))
    buf = b.apply(torch.zeros, [3, 4])
    b.apply("add_", b.apply("select", buf, 0, 1), x)
    b.apply(torch.mul, buf, 2.0)


def plant_add_relu(b):
    x = b.input(torch.tensor([float("nan"), 1.0, -1.0]))
    b.apply(torch.relu, b.apply(torch.add, x, b.input(torch.randn(3))))


PLANTED = {  # backend, with gradients: the bugs that show there
    ("jit", False): [plant_bool_times_one, plant_type_as, plant_einsum],
    ("jit", True): [plant_tie, plant_threshold, plant_bool_times_one, plant_type_as],
    ("nnc", False): [plant_int_clamp, plant_hardshrink, plant_round, plant_int_floor, plant_bool_times_one],
    ("freeze", False): [plant_linear_batch_norm, plant_conv_mul_double],
    ("optimize-for-inference", False): [plant_linear_batch_norm, plant_conv_clamp],
    ("static-runtime", False): [plant_int_div, plant_int_sigmoid, plant_detach, plant_einsum],
    ("pass:peephole", False): [plant_bool_plus_zero, plant_bool_times_one],
    ("pass:remove-inplace-ops", False): [plant_row_write],
    ("pass:fuse-add-relu", False): [plant_add_relu],
}


def draw_input(grad):
    shape = pick((4,), (2, 3), (3, 4), (2, 3, 4), (2, 3, 4, 4), (30, 40), (), (2, 5, 1, 1), (1,), (0, 3), (6, 6))
    kind = pick(
        "float", "float", "float", "float", "half", "double", "int", "bool", "complex" if chance(0.3) else "float"
    )
    if kind == "int":
        return torch.randint(-3, 5, shape)
    if kind == "bool":
        return torch.rand(shape) > 0.5
    dtype = {"double": torch.float64, "half": pick(*HALF_TYPES), "complex": torch.complex64}.get(kind, torch.float32)
    value = torch.randn(shape, dtype=dtype)
    if chance(0.1) and value.numel() and not value.is_complex():
        value.view(-1)[0] = pick(float("nan"), float("inf"), 0.0, 1e4)
    return value.requires_grad_(grad and chance(0.8))


def output_of(b, plain):
    """The last value, often with others, in a structure."""
    values = [b.values[-1]] + [b.some() for _ in range(pick(0, 0, 1, 1, 2, 3))]
    nodes = [value.node for value in values]
    if plain:
        return nodes[0]
    kind = pick("tensor", "tensor", "tensor", "tuple", "tuple", "list", "dict", "nested", "extra")
    if kind == "tensor":
        return nodes[0]
    if kind == "tuple":
        return tuple(nodes)
    if kind == "list":
        return nodes
    if kind == "dict":
        return {f"k{len(nodes) - i}": node for i, node in enumerate(nodes)}
    return (nodes[0], [*nodes], {"a": nodes[-1]}) if kind == "nested" else (nodes[0], pick(None, 3, 0.5), *nodes[1:])


def finish(b, output):
    b.graph.output(output)
    b.graph.lint()
    return fx.GraphModule(b.root, b.graph)


class Loop(nn.Module):
    def __init__(self, step: nn.Module, count: int, bound: float):
        super().__init__()
        self.step = step
        self.count = count
        self.bound = bound

    def forward(self, x: Tensor):
        total = torch.zeros([2, 3])
        for _ in range(self.count):
            if bool(x.abs().mean() > self.bound):
                x = self.step(x) * 0.5
            else:
                x = x + 1.0
            total = total + x.to(torch.float32)
        return x, total


class Append(nn.Module):
    def __init__(self, step: nn.Module, bound: float):
        super().__init__()
        self.step = step
        self.bound = bound

    def forward(self, x: Tensor):
        found: List[Tensor] = []
        while len(found) < 3:
            x = self.step(x)
            found.append(x if bool(x.sum() < self.bound) else -x)
        return found


def draw_control_flow(grad):
    """A step from float32[2, 3] to float32[2, 3], in a loop; TorchScript only, torch.fx has no control flow."""
    b = Builder(grad)
    x = b.input(torch.randn(2, 3).requires_grad_(grad))
    for _ in range(random.randrange(2, 6)):
        random.choices(list(STEPS), list(STEPS.values()))[0](b)
    value = b.some(lambda t: is_float(t) and t.numel() > 0) or x
    scalar = b.apply(torch.ops.aten._to_copy, b.apply(torch.mean, value), dtype=torch.float32)
    step = finish(b, b.apply(torch.add, b.apply(torch.tanh, x), scalar).node)
    module = Loop(step, pick(1, 2, 5, 9), pick(0.1, 0.5)) if chance(0.6) else Append(step, pick(-1.0, 0.0, 1.0))
    return module, b


def draw_graph(backend, grad):
    b = Builder(grad)
    for _ in range(pick(1, 1, 2, 3)):
        b.input(draw_input(grad))
    if chance(0.06):
        same_twice = [torch.randn(3).requires_grad_(grad)] * 2
        b.input([draw_input(grad).detach() for _ in range(2)] if chance(0.5) else same_twice, List[Tensor])
    for _ in range(pick(0, 0, 1)):
        b.attribute(torch.randn(pick(3, 4, 1)), parameter=chance(0.3))
    planted = PLANTED.get((backend, grad), []) if chance(0.7) else []
    wanted = pick(3, 5, 8, 12, 16, 20, 25)
    after = pick(0, wanted // 2, wanted)
    for _ in range(4 * wanted):
        if planted and b.operators >= after:
            random.choice(planted)(b)
            break
        if b.operators >= wanted:
            break
        random.choices(list(STEPS), list(STEPS.values()))[0](b)
    return finish(b, output_of(b, plain=chance(0.3))), b


# ----------------------------------------------------------------------------------------------------------------------
# Noise


def rms(values):
    return values.abs().square().mean().sqrt().item() if values.numel() else 0.0


def near(threshold):
    """Just under or just over a threshold."""
    return threshold * pick(0.5, 0.9, 0.98, 0.999, 1.001, 1.02, 1.1, 2, 20)


def wrong_leaf(value, wide, tol):
    if not value.is_floating_point() or value.numel() == 0:
        return ("replace", pick(value + 1 if value.dtype != torch.bool else ~value, value.clone()))
    kind = pick("close", "close", "rmse", "rmse", "rmse", "dtype", "shape", "nan", "gradient", "gradient")
    plain = value.detach().double()
    noise = torch.randn_like(plain)
    if chance(0.3):
        noise = torch.zeros_like(plain).reshape(-1)
        noise[random.randrange(noise.numel())] = 1.0
        noise = noise.reshape(plain.shape)
    if kind == "close":
        return ("add", (noise / noise.abs().max() * near(tol * (1 + plain.abs().max().item()))).to(value.dtype))
    if kind == "rmse":
        usable = wide is not None and wide.shape == plain.shape and torch.isfinite(wide).all()
        error = rms(plain - wide) if usable else 0.0
        size = near((2 if plain.numel() >= 1000 else 3) * error + tol / 10) / (rms(noise) or 1.0)
        target = (wide if usable else plain) + noise * size
        return ("replace", target.to(value.dtype)) if chance(0.5) else ("add", (target - plain).to(value.dtype))
    if kind == "dtype":
        return ("dtype", torch.zeros((), dtype=pick(torch.float16, torch.bfloat16, torch.float64, torch.float32)))
    if kind == "shape":
        return (
            "replace",
            pick(plain.unsqueeze(0), plain.reshape(-1), torch.cat([plain.reshape(-1)] * 2)).to(value.dtype),
        )
    if kind == "nan":
        special = pick(torch.nan_to_num(plain), torch.where(noise == noise.max(), float("nan"), plain), plain / 0.0)
        return ("replace", special.to(value.dtype))
    return ("gradient", torch.tensor(near(pick(tol, 3 * tol, 0.1)), dtype=value.dtype))


def results_of(program):
    """The leaves of eager's output, and of the fp64 reference's where there is one."""
    module = program.clear_gradients(program.load())
    with torch.set_grad_enabled(program.grad), torch.jit.optimized_execution(False):
        leaves = tensors_in(module(*clone(program.inputs)))
        try:
            module = widen_script(program.clear_gradients(program.load()))
            wide = [tensor.detach() for tensor in tensors_in(module(*widen_value(program.inputs)))]
        except Exception:
            wide = []
    return leaves, wide if len(wide) == len(leaves) else [None] * len(leaves)


def draw_noise(program):
    noise = dict(NO_NOISE) | {"from_call": pick(1, 1, 2, 3), "leaves": {}}
    leaves, wide = results_of(program)
    kind = random.random()
    buffers = [item for item in program.load().named_buffers() if item[1].is_floating_point()]
    inputs = [
        i for i, value in enumerate(program.inputs) if isinstance(value, torch.Tensor) and value.is_floating_point()
    ]
    if kind < 0.06:
        noise["raises"] = True
    elif kind < 0.10:
        noise["structure"] = pick("twice", "none")
    elif kind < 0.22 and buffers:
        name, buffer = random.choice(buffers)
        noise["buffer"] = (name, buffer.detach() + near(program.tol))
    elif kind < 0.30 and inputs:
        index = random.choice(inputs)
        noise["input"] = (index, program.inputs[index].detach() + near(10 * program.tol))
    elif leaves:
        for index in random.sample(range(len(leaves)), min(len(leaves), pick(1, 1, 2))):
            noise["leaves"][index] = tuple(
                part.detach() if isinstance(part, torch.Tensor) else part
                for part in wrong_leaf(leaves[index], wide[index], program.tol)
            )
    return noise


def draw_program(folder, index, seed):
    random.seed(1000 * seed + index)
    torch.manual_seed(1000 * seed + index)
    grad = chance(0.4)
    backend = "noise" if chance(0.45) else random.choice([name for name, with_grad in PLANTED if with_grad == grad])
    if chance(0.03) and backend != "noise":
        backend = pick("freeze", "static-runtime")
    settings = {"tol": pick(1e-3, 1e-3, 1e-3, 1e-4, 1e-2, 0.03), "ignore_non_fp": chance(0.1)}
    settings |= {"grad": grad, "only_forward": not grad and chance(0.3)}
    with_fx = chance(0.85)
    module, b = draw_graph(backend, grad) if with_fx else draw_control_flow(grad)
    program = Program(f"random_{index}", Path(folder) / f"random_{index}.pt", b.inputs, backend, **settings)
    torch.jit.script(module.eval()).save(program.path)
    program.fx = module if with_fx else None
    if backend == "noise":
        program.noise = draw_noise(program)
    return program
