"""Programs of torch.fx as Python that is typed by hand: what is written, and that it does what the graph does.

inductor_fx_text.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import operator
import sys
import types
import unittest
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))

import numpy as np
import torch
import torch.nn.functional as F
from torch.fx import Graph, GraphModule

from fx_call import Call, NoForm
from fx_names import argument_names
from fx_text import ProgramText, program_text
from tensor_text import bits

aten = torch.ops.aten


def captured(function: Callable[..., Any], *inputs: Any, dynamic: bool = False) -> Graph:
    """The one graph that Dynamo hands to a backend."""
    torch._dynamo.reset()
    graphs: list[Graph] = []

    def keep(module: GraphModule, _: Any) -> Callable[..., Any]:
        graphs.append(module.graph)
        forward: Callable[..., Any] = module.forward
        return forward

    torch.compile(function, backend=keep, dynamic=dynamic)(*inputs)
    (graph,) = graphs
    return graph


def text_of(graph: Graph, **options: Any) -> ProgramText:
    names = argument_names(str(node.target) for node in graph.find_nodes(op="placeholder"))
    return program_text(graph, names, **options)


def shown(text: ProgramText) -> str:
    return "; ".join(text.body) if text.expression is None else text.callable_text()


def function_of(text: ProgramText) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec("\n".join([*text.imports, *text.function("f")]), space)
    made: Callable[..., Any] = space["f"]
    return made


def leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (list, tuple)) else [value]


def state(run: Callable[..., Any], inputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """The results of a run, which of them share memory, and its inputs as it leaves them; or how it fails."""
    torch.manual_seed(0)
    given = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    try:
        results = leaves(run(*given))
    except (RuntimeError, IndexError) as error:
        return [type(error)], given
    tensors = [value for value in [*results, *given] if isinstance(value, torch.Tensor)]
    places = [value.untyped_storage().data_ptr() for value in tensors]
    return [*results, [places.index(place) for place in places]], given


def is_same(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and repr(one) == repr(other)
    same_form = (one.dtype, one.shape, one.stride()) == (other.dtype, other.shape, other.stride())
    if not same_form or one.dtype == torch.bool:
        return same_form and bool(torch.equal(one, other))
    return bool(torch.equal(bits(one), bits(other)))


class Same(unittest.TestCase):
    def check(self, graph: Graph, inputs: list[Any], **options: Any) -> ProgramText:
        """The graph is interpreted: the code that a GraphModule makes of it has -1 ** x for (-1) ** x."""
        text = text_of(graph, bare=False, **options)
        expected, left = state(torch.fx.Interpreter(GraphModule(torch.nn.Module(), graph)).run, inputs)
        found, left_found = state(function_of(text), inputs)
        said = "\n".join(text.function()) + "\n" + str(graph)
        self.assertEqual(len(expected), len(found), said)
        for one, other in zip([*expected, *left], [*found, *left_found]):
            self.assertTrue(is_same(one, other), f"{said}\n{one}\n{other}")
        for line in text.function():
            self.assertLessEqual(len(line), 100)
        return text


def copied(x: Any) -> Any:
    x[1:] = x[:-1].clone()


def updated(x: Any, y: Any) -> Any:
    x += 1
    return x @ y


def item_updated(x: Any) -> Any:
    x[0] += 1
    return x * 2


def chained(x: Any, y: Any) -> Any:
    x.mul_(0.25).add_(y)
    return y


def written_before_read(x: Any, y: Any) -> Any:
    a = x * 2
    x.add_(1)
    return a + y


def drawn(x: Any) -> Any:
    a = torch.rand(3)
    b = torch.randn(3)
    return b * x + a


def into(x: Any, y: Any) -> Any:
    z = torch.empty(3)
    torch.add(x, y, out=z)
    return z.exp()


def twice(x: Any) -> Any:
    m = x.mean(-1, True)
    return (x - m) / m


def masked(x: Any) -> Any:
    y = torch.zeros_like(x)
    y[x > 0] = 1
    return y


def without_gradients(x: Any) -> Any:
    with torch.no_grad():
        y = x * 2
    return y + x


X, M, N4 = torch.tensor([1.0, -2.0, 3.0]), torch.arange(9.0).reshape(3, 3), torch.arange(16.0).reshape(1, 1, 4, 4)
I8 = torch.ones(1, 2, 2, dtype=torch.int8)

# Each is a function, its inputs, and the text.
DYNAMO: list[tuple[Callable[..., Any], list[Any], str]] = [
    (lambda x: x + 1, [X], "lambda x: x + 1"),
    (lambda x: torch.add(x, 1), [X], "lambda x: x + 1"),
    (lambda x, y: torch.add(x, y, alpha=2), [X, X], "lambda x, y: torch.add(x, y, alpha=2)"),
    (lambda x: (x + 1) * 2 - x * 3, [X], "lambda x: (x + 1) * 2 - x * 3"),
    (lambda x: -(x ** 2), [X], "lambda x: -x ** 2"),
    (lambda x: (-x) ** 2, [X], "lambda x: (-x) ** 2"),
    (lambda x: (-1) ** x, [X], "lambda x: (-1) ** x"),
    (lambda x: 1 - (x - (x - 2)), [X], "lambda x: 1 - (x - (x - 2))"),
    (lambda x: (x > 0) & ~(x < 2), [X], "lambda x: (x > 0) & ~(x < 2)"),
    (lambda x: (x > 0) == (x < 2), [X], "lambda x: (x > 0) == (x < 2)"),
    (lambda x, y: x @ y.T, [M, M], "lambda y, x: x @ y.T"),
    (lambda x: abs(x).half().float(), [X], "lambda x: abs(x).half().float()"),
    (lambda x: x[1:, ..., None], [M], "lambda x: x[1:, ..., None]"),
    (lambda x: x[:, ::2][..., -1], [M], "lambda x: x[:, ::2][..., -1]"),
    (lambda x: x[x.argsort()], [X], "lambda x: x[x.argsort()]"),
    (lambda x: x.clamp(max=float("inf")), [X], 'lambda x: x.clamp(max=float("inf"))'),
    (lambda x: x * -0.0, [X], "lambda x: x * -0.0"),
    (lambda x: x.to(torch.int64).view(-1), [X], "lambda x: x.to(torch.int64).view(-1)"),
    (lambda x: x.to("cpu", torch.float64), [X], 'lambda x: x.to("cpu", torch.float64)'),
    (lambda x: x.sum(0, False), [M], "lambda x: x.sum(0)"),
    (lambda x: x.sum(0, True), [M], "lambda x: x.sum(0, keepdim=True)"),
    (lambda x: torch.max(x, dim=0).values, [M], "lambda x: torch.max(x, dim=0).values"),
    (lambda x: x.sort(descending=True)[1], [X], "lambda x: x.sort(descending=True).indices"),
    (lambda x: torch.cat([x, x], 0), [X], "lambda x: torch.cat([x, x])"),
    (lambda x: torch.einsum("i,j->ij", x, x), [X], 'lambda x: torch.einsum("i,j->ij", x, x)'),
    (lambda x: F.avg_pool2d(x, 2, 2, 0, True), [N4], "lambda x: F.avg_pool2d(x, 2, ceil_mode=True)"),
    (lambda x: F.max_pool2d(x, 2, padding=1), [N4], "lambda x: F.max_pool2d(x, 2, padding=1)"),
    (lambda x: F.pad(x, (1, 1), "constant", 0.5), [X], "lambda x: F.pad(x, (1, 1), value=0.5)"),
    (lambda x: F.gelu(x, approximate="tanh"), [X], 'lambda x: F.gelu(x, approximate="tanh")'),
    (lambda x: F.softmax(x, -1), [X], "lambda x: F.softmax(x, -1)"),
    (lambda x: F.dropout(x, 0.5, True), [X], "F.dropout"),
    (lambda x, w: F.conv2d(x, w, None, 1, 2), [N4, N4], "lambda x, w: F.conv2d(x, w, padding=2)"),
    (lambda x, w: F.linear(x, w), [M, M], "F.linear"),
    (lambda x, y: F.interpolate(x, scale_factor=1.3) + y, [N4, torch.ones(5, 5)],
     "lambda x, y: F.interpolate(x, scale_factor=1.3) + y"),
    (lambda x: torch.linalg.inv(x), [torch.eye(2)], "torch.linalg.inv"),
    (lambda x: torch.special.expit(x), [X], "torch.special.expit"),
    (lambda x: torch.zeros(3, dtype=torch.int64) + x, [X], "lambda x: torch.zeros(3, dtype=torch.int64) + x"),
    (lambda x: x.add(1).mul(x).neg(), [X], "lambda x: -((x + 1) * x)"),
    (lambda x: x.matmul(x.view((3, 3)).permute([1, 0])), [M], "lambda x: x @ x.view(3, 3).permute(1, 0)"),
    (lambda x: x.to(dtype=torch.int64).bitwise_and(3).__lshift__(1), [X], "lambda x: (x.to(torch.int64) & 3) << 1"),
    (lambda x: x * torch.arange(0, 3) + torch.arange(start=0, end=3), [X],
     "lambda x: x * torch.arange(3) + torch.arange(3)"),
    (lambda x: x * torch.arange(0.0, 3) + torch.arange(0, 6, 2), [X],
     "lambda x: x * torch.arange(0.0, 3) + torch.arange(0, 6, 2)"),
    (lambda x: x + torch.zeros([3]) + torch.ones((3,)) + torch.ones(()), [X],
     "lambda x: x + torch.zeros(3) + torch.ones(3) + torch.ones(())"),
    (lambda x: x + 0j, [X], "lambda x: x + 0j"),
    (copied, [X], "x[1:] = x[:-1].clone()"),
    (updated, [M, M], "x += 1; return x @ y"),
    (item_updated, [X], "x[0] += 1; return x * 2"),
    (chained, [X, X.clone()], "x.mul_(0.25).add_(y); return y"),
    (written_before_read, [X, X.clone()], "product = x * 2; x.add_(1); return product + y"),
    (drawn, [X], "rand = torch.rand(3); return torch.randn(3) * x + rand"),
    (into, [X, X.clone()], "empty = torch.empty(3); torch.add(x, y, out=empty); return empty.exp()"),
    (twice, [M], "mean = x.mean(-1, keepdim=True); return (x - mean) / mean"),
    (masked, [X], "zeros = torch.zeros_like(x); zeros[x > 0] = 1; return zeros"),
    (without_gradients, [X],
     "torch.set_grad_enabled(False); product = x * 2; torch.set_grad_enabled(True); return product + x"),
    (lambda x: x.relu_().split(2)[0], [X], "lambda x: x.relu_().split(2)[0]"),
]  # fmt: skip

# Each is a function, its inputs, and the text of its graph in ATen.
ATEN: list[tuple[Callable[..., Any], list[Any], str]] = [
    (lambda x: aten.add.Tensor(aten.mul.Tensor(aten.relu.default(x), x), 1), [X], "lambda x: torch.relu(x) * x + 1"),
    (lambda x: aten.gt.Scalar(aten.div.Tensor(aten.rsub.Scalar(x, 2), 4), 0), [X], "lambda x: (2 - x) / 4 > 0"),
    (lambda x: aten.expand.default(aten.view.default(x, [1, 3]), [2, 3]), [X],
     "lambda x: x.view(1, 3).expand(2, 3)"),
    (lambda x: aten.unsqueeze.default(aten.transpose.int(x, 0, 1), 0), [M],
     "lambda x: x.transpose(0, 1).unsqueeze(0)"),
    (lambda x: aten.slice.Tensor(x, 1, 1, 9223372036854775807), [M], "lambda x: x[:, 1:]"),
    (lambda x: aten.slice.Tensor(x, 0, 0, None, 2), [M], "lambda x: x[::2]"),
    (lambda x: aten.slice.Tensor(x, -1, 1), [M], "lambda x: torch.ops.aten.slice.Tensor(x, -1, 1)"),
    (lambda x: aten.select.int(x, 1, -1), [M], "lambda x: x[:, -1]"),
    (lambda x: aten.mean.dim(x, [1], True), [M], "lambda x: x.mean(1, keepdim=True)"),
    (lambda x: aten.add.Tensor(x, x, alpha=2), [X], "lambda x: torch.add(x, x, alpha=2)"),
    (lambda x: aten.add_.Tensor(x, 1), [X], "lambda x: x.add_(1)"),
    (lambda x: aten.view.dtype(x, torch.int32), [X], "lambda x: x.view(torch.int32)"),
    (lambda x: aten.to.dtype(x, torch.int64), [X], "lambda x: x.to(torch.int64)"),
    (lambda x: aten._to_copy.default(x, dtype=torch.int64), [X], "lambda x: x.to(torch.int64, copy=True)"),
    (lambda x: aten.max.dim(x, 0)[0], [M], "lambda x: x.max(0).values"),
    (lambda x: aten.split.Tensor(x, 2)[0], [M], "lambda x: x.split(2)[0]"),
    (lambda x: aten.avg_pool2d.default(x, [2, 2], [2, 2], [0, 0], True), [N4],
     "lambda x: F.avg_pool2d(x, 2, ceil_mode=True)"),
    (lambda x: aten.upsample_nearest2d.vec(x, None, [1.3, 1.0]), [N4],
     "lambda x: F.interpolate(x, scale_factor=[1.3, 1.0])"),
    (lambda x: aten.upsample_bilinear2d.vec(x, [3, 3], True, None), [N4],
     'lambda x: F.interpolate(x, size=3, mode="bilinear", align_corners=True)'),
    (lambda x, w: aten.conv2d.default(x, w, None, [1, 1], [2, 2]), [N4, N4],
     "lambda x, w: F.conv2d(x, w, padding=2)"),
    (lambda x, w: aten.convolution.default(x, w, None, [1, 1], [2, 2], [1, 1], False, [0, 0], 1), [N4, N4],
     "lambda x, w: F.conv2d(x, w, padding=2)"),
    (lambda x: aten.layer_norm.default(x, [3]), [X], "lambda x: F.layer_norm(x, [3])"),
    (lambda x: aten.gelu.default(x, approximate="tanh"), [X], 'lambda x: F.gelu(x, approximate="tanh")'),
    (lambda x, y: aten.mse_loss.default(x, y, 2), [X, X * 2], 'lambda x, y: F.mse_loss(x, y, reduction="sum")'),
    (lambda x, y: aten.cross_entropy_loss.default(x, y, None, 1, -100, 0.1), [M, torch.tensor([0, 2, 1])],
     "lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1)"),
    (lambda x, y: aten.binary_cross_entropy_with_logits.default(x, y), [X, X],
     "F.binary_cross_entropy_with_logits"),
    (lambda x, y: aten.huber_loss.default(x, y, 2, 0.5), [X, X * 2],
     'lambda x, y: F.huber_loss(x, y, reduction="sum", delta=0.5)'),
    (lambda x: aten.div.Tensor_mode(x, 2, rounding_mode="floor"), [X],
     'lambda x: torch.div(x, 2, rounding_mode="floor")'),
    (lambda x: aten.hardtanh.default(x, -1.0, 1.0), [X], "F.hardtanh"),
    (lambda x: aten.einsum.default("i,j->ij", [x, x]), [X], 'lambda x: torch.einsum("i,j->ij", x, x)'),
    (lambda x: aten.log_sigmoid.default(x), [X], "F.logsigmoid"),
    (lambda x: aten.elu.default(x, 0.5), [X], "lambda x: F.elu(x, 0.5)"),
    (lambda x: aten.constant_pad_nd.default(x, [1, 1], 0.0), [M], "lambda x: F.pad(x, [1, 1])"),
    (lambda x: aten.constant_pad_nd.default(x, [1, 1], 2.0), [M], "lambda x: F.pad(x, [1, 1], value=2.0)"),
    (lambda x: aten.im2col.default(x, [2, 2], [1, 1], [0, 0], [1, 1]), [N4], "lambda x: F.unfold(x, 2)"),
    (lambda x, y: aten.embedding.default(x, y), [M, torch.tensor([1, 0])], "lambda x, y: F.embedding(y, x)"),
    (lambda x, y: aten.grid_sampler.default(x, y, 1, 0, False), [N4, torch.zeros(1, 2, 2, 2)],
     'lambda x, y: F.grid_sample(x, y, mode="nearest", align_corners=False)'),
    (lambda x: aten.instance_norm.default(x, None, None, None, None, True, 0.1, 1e-5, False), [N4],
     "F.instance_norm"),
    (lambda x: aten._adaptive_avg_pool2d.default(x, [1, 2]), [N4], "lambda x: F.adaptive_avg_pool2d(x, [1, 2])"),
    (lambda x: aten._adaptive_avg_pool2d.default(x, [1, 1]), [N4],  # in torch.nn.functional, that is a mean
     "lambda x: torch.ops.aten._adaptive_avg_pool2d.default(x, [1, 1])"),
    (lambda x, y: aten._adaptive_avg_pool2d_backward.default(x, y), [N4[..., :1, :1], N4],
     "torch.ops.aten._adaptive_avg_pool2d_backward.default"),
    (lambda x: aten.affine_grid_generator.default(x, [1, 1, 1, 1], False), [torch.ones(1, 2, 3)],
     "lambda x: F.affine_grid(x, [1, 1, 1, 1], align_corners=False)"),
    (lambda x: aten.constant_pad_nd.default(x, [1, 1], -0.0), [X], "lambda x: F.pad(x, [1, 1], value=-0.0)"),
    (lambda x: aten.constant_pad_nd.default(x, [1, 1], 0.0), [X], "lambda x: F.pad(x, [1, 1])"),
    (lambda x: aten.upsample_nearest2d.default(x, [4, 4]), [N4], "lambda x: F.interpolate(x, size=4)"),
    (lambda x: aten.rms_norm.default(x, [2]), [M[:, :2]], "lambda x: F.rms_norm(x, [2])"),
    (lambda x: aten.reflection_pad1d.default(x, [1, 1]), [M], 'lambda x: F.pad(x, [1, 1], mode="reflect")'),
    (lambda x: aten.__and__.Tensor(aten.gt.Scalar(x, 0), aten.lt.Scalar(x, 2)), [X], "lambda x: (x > 0) & (x < 2)"),
    (lambda x: aten.lift_fresh_copy.default(x), [X], "lambda x: x.clone()"),
    (lambda x, y: aten._foreach_mul.List([x], [y])[0], [X, X], "lambda x, y: torch._foreach_mul([x], [y])[0]"),
    (lambda x: aten._foreach_add.Scalar([x], 2)[0], [X], "lambda x: torch._foreach_add([x], 2)[0]"),
    (lambda x, y: aten.index.Tensor(x, [y]), [M, torch.tensor([1, -1])], "lambda x, y: x[y]"),
    (lambda x, y: aten.index.Tensor(x, [None, y]), [M, torch.tensor([1, -1])], "lambda x, y: x[:, y]"),
    (lambda x: aten.max_pool2d.default(x, [2, 2], [1], [1, 1]), [N4], "lambda x: F.max_pool2d(x, 2, 1, 1)"),
    (lambda x: aten.silu.default(aten.numpy_T.default(x)), [M], "lambda x: F.silu(x.T)"),
    (lambda x, y: aten.copy_.default(x, y), [X, X * 2], "lambda x, y: x.copy_(y)"),
    (lambda x: aten.special_erfcx.default(x), [X], "torch.special.erfcx"),
    (lambda x: aten.linalg_norm.default(x), [X], "torch.linalg.norm"),
    (lambda x: aten._softmax.default(x, 0, False), [X], "lambda x: torch.softmax(x, 0)"),
    (lambda x: aten._unsafe_view.default(x, [3, 1]), [X],
     "lambda x: torch.ops.aten._unsafe_view.default(x, [3, 1])"),
]  # fmt: skip

# These are failures that were reported, each as a person wrote it down, and its text.
REPORTS: list[tuple[Callable[..., Any], list[Any], str]] = []


def of_reports(*inputs: Any, text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        REPORTS.append((function, list(inputs), text))
        return function

    return add


@of_reports(torch.zeros(1), torch.zeros(1), text="y[:] = x[:]; x.add_(1)")
def copy_then_decay(dst: Any, src: Any) -> None:
    dst[:] = src[:]
    src.add_(1)


@of_reports(torch.tensor([2.0, 3.0]), text="torch._foreach_mul_([x], [x.flip(0)]); return x")
def foreach_mirror(x: Any) -> Any:
    torch._foreach_mul_([x], [x.flip(0)])
    return x


@of_reports(torch.zeros(2, dtype=torch.int64), text="product = x.view(torch.int32) * 2; product.add_(1); x[:1] = 9; "
            "return product.view(torch.int64)")  # fmt: skip
def token_halves(x: Any) -> Any:
    y = x.view(torch.int32) * 2
    y.add_(1)
    x[:1] = 9
    return y.view(torch.int64)


REPORTS += [
    (lambda x: (x + 1).unfold(0, 2, 1).neg_(), [torch.ones(3)], "lambda x: (x + 1).unfold(0, 2, 1).neg_()"),
    (lambda x: x.half().float(), [torch.full((16,), 0.1)], "lambda x: x.half().float()"),
    (lambda x: (x + 1).to(torch.int64) > 0, [torch.full((2,), 2147483647, dtype=torch.int32)],
     "lambda x: (x + 1).to(torch.int64) > 0"),
    (torch.bmm, [I8[:, :1], I8], "torch.bmm"),
    (lambda x: F.normalize((x - x.mean(-1, keepdim=True)).mean(-1), dim=0), [torch.rand(4, 37)],
     "lambda x: F.normalize((x - x.mean(-1, keepdim=True)).mean(-1), dim=0)"),
    (torch.nn.AvgPool1d(2, 2, ceil_mode=True), [torch.ones(1, 3)], "lambda x: F.avg_pool1d(x, 2, ceil_mode=True)"),
    (lambda x: F.interpolate(x, scale_factor=1.3, mode="nearest"), [torch.arange(2.0).reshape(1, 1, 1, 2)],
     "lambda x: F.interpolate(x, scale_factor=1.3)"),
    (lambda: torch.ones(()).cumsum(0), [], "lambda: torch.ones(()).cumsum(0)"),
]  # fmt: skip


class Texts(Same):
    def test_graphs_of_dynamo(self) -> None:
        for function, inputs, expected in [*DYNAMO, *REPORTS]:
            with self.subTest(expected):
                graph = captured(function, *[value.clone() for value in inputs])
                for node in graph.find_nodes(op="placeholder"):
                    if function is copy_then_decay:  # Dynamo has them in the order of their first use
                        node.target = f"argument_{len(node.users) % 2}"
                self.assertEqual(shown(text_of(graph)), expected)
                self.check(graph, inputs)

    def test_graphs_of_aten(self) -> None:
        for function, inputs, expected in ATEN:
            with self.subTest(expected):
                graph = torch.fx.symbolic_trace(function).graph
                letters = [str(node.target) for node in graph.find_nodes(op="placeholder")]
                self.assertEqual(shown(program_text(graph, letters)), expected)
                self.check(graph, inputs)


def written_through(x: Any, i: Any) -> Any:
    aten.index.Tensor(x, [i]).add_(1)
    return x


# Calls of operators that a function of torch.nn.functional, or Python's binding, does not take, or takes for another.
REFUSED: list[tuple[Callable[..., Any], list[Any]]] = [
    (lambda x: aten.group_norm.default(x, 2), [torch.rand(1, 2)]),
    (lambda x: aten.instance_norm.default(x, None, None, None, None, True, 0.1, 1e-5, False), [torch.rand(1, 2, 1, 1)]),
    (lambda x: aten.constant_pad_nd.default(x, [1, 1], 2**53 + 1), [torch.ones(2, dtype=torch.int64)]),
    (lambda x, w: aten.convolution.default(x, w, None, [1], [0], [1], False, [0], 1),
     [torch.rand(1, 2, 3, 3), torch.rand(2, 2, 1, 1)]),
    (lambda x, i, v: aten.index_put.default(x, [None, i], v), [torch.rand(2, 3), torch.tensor([1]), torch.rand(2, 1)]),
    (lambda x, y: aten.binary_cross_entropy.default(x, y), [torch.rand(3), torch.rand(1)]),
    (lambda w, i: aten.embedding.default(w, i, 5), [torch.rand(3, 2), torch.tensor([1])]),
    (lambda x: aten.hardtanh.default(x, 1.0, -1.0), [torch.rand(3)]),
    (lambda x: aten.dropout.default(x, 0.5, train=False), [torch.rand(3)]),
    (written_through, [torch.rand(3), torch.tensor(1)]),
]  # fmt: skip


def graph_of(*calls: tuple[Any, ...], arguments: int = 1) -> Graph:
    """A graph of calls (target, argument, ...): an int in a list, alone, is a call, from 0, and below it an argument.
    It returns the last."""
    graph = Graph()
    nodes = {-1 - number: graph.placeholder(f"argument_{number}") for number in range(arguments)}

    def value(part: Any) -> Any:
        return nodes[part[0]] if isinstance(part, list) and len(part) == 1 and type(part[0]) is int else part

    for number, (target, *parts) in enumerate(calls):
        make = graph.call_method if isinstance(target, str) else graph.call_function
        nodes[number] = make(target, tuple(map(value, parts)))
    graph.output((nodes[len(calls) - 1],))
    return graph


class OperatorsAlone(Same):
    def test_are_called_where_no_function_takes_what_they_take(self) -> None:
        for function, inputs in REFUSED:
            graph = torch.fx.symbolic_trace(function).graph
            for node, value in zip(graph.find_nodes(op="placeholder"), inputs):
                node.meta["sizes"] = value.shape
            with self.subTest(shown(text_of(graph))):
                self.check(graph, inputs)


class Parts(Same):
    def test_new_tensors_without_what_goes_without_saying(self) -> None:
        graph = Graph()
        full = graph.call_function(
            aten.full.default, ([2], 3.0), {"device": torch.device("cpu"), "pin_memory": False, "layout": torch.strided}
        )
        zeros = graph.call_function(aten.zeros.default, ([2, 2],), {"dtype": torch.int64})
        counted = graph.call_function(aten.arange.start, (0, 2), {"pin_memory": False})
        product = graph.call_function(aten.mul.Tensor, (full, zeros))
        graph.output((graph.call_function(aten.add.Tensor, (product, counted)),))
        self.check(graph, [])
        expected = "lambda: torch.full([2], 3.0) * torch.zeros(2, 2, dtype=torch.int64) + torch.arange(2)"
        self.assertEqual(shown(text_of(graph)), expected)

    def test_attributes(self) -> None:
        graph = Graph()
        x, weight = graph.placeholder("x"), graph.get_attr("block.weight")
        graph.call_function(operator.iadd, (weight, 1))
        graph.output((graph.call_function(torch.mul, (x, weight)),))
        self.assertEqual(shown(text_of(graph)), "self.block.weight.__iadd__(1); return x * self.block.weight")
        text = text_of(graph, attributes={"block.weight": "weight"})
        self.assertEqual(shown(text), "weight.__iadd__(1); return x * weight")  # it belongs to another function

    def test_numbers_are_not_written_in_place(self) -> None:
        graph = Graph()
        n, x = graph.placeholder("s77"), graph.placeholder("x")
        more = graph.call_function(operator.iadd, (n, 2))
        graph.output((graph.call_function(operator.mul, (x, more)), n, more))
        text = self.check(graph, [3, X], numbers=["s77"])
        self.assertEqual(shown(text), "total = n + 2; return x * total, n, total")

        graph = Graph()
        n = graph.call_function(torch.numel, (graph.placeholder("x"),))
        graph.output((n, graph.call_function(operator.iadd, (n, 1))))
        self.check(graph, [X])

    def test_an_item_is_read_before_what_is_added_to_it(self) -> None:
        graph = Graph()
        x = graph.placeholder("x")
        doubled = graph.call_method("mul_", (x, 2))
        item = graph.call_function(operator.getitem, (x, [0, 1]))
        rest = graph.call_function(operator.getitem, (doubled, slice(None, 2)))
        more = graph.call_function(operator.iadd, (item, rest))
        graph.call_function(operator.setitem, (x, [0, 1], more))
        graph.output((x,))
        self.check(graph, [torch.tensor([1.0, 2.0, 3.0])])

    def test_functions_of_operator_are_imported(self) -> None:
        text = self.check(graph_of((operator.truth, [-1])), [torch.ones(1)])
        self.assertIn("import operator", text.imports)
        users = types.ModuleType("my_operators")
        exec("def twice(x): return x * 2", users.__dict__)
        with mock.patch.dict(sys.modules, my_operators=users):
            text = self.check(graph_of((users.twice, [-1])), [torch.ones(1)])
        self.assertIn("import my_operators", text.imports)

    def test_a_chain_is_as_long_as_a_line(self) -> None:
        graph = Graph()
        node = graph.placeholder("x")
        for _ in range(3000):
            node = graph.call_method("cos", (node,))
        graph.output((node,))
        text = text_of(graph)
        self.assertGreater(len(text.body), 100)
        self.assertLessEqual(max(map(len, text.function())), 100)

    def test_a_long_call_is_broken_at_its_commas(self) -> None:
        graph = Graph()
        values = [graph.placeholder(f"l_a_rather_long_name_of_a_tensor_{number}_") for number in range(9)]
        graph.output((graph.call_function(torch.cat, (values,)),))
        lines = self.check(graph, [X] * 9).function()
        self.assertGreater(len(lines), 4)

    def test_results_are_returned_as_they_are(self) -> None:
        graph = captured(lambda x: (x + 1, [x, None]), X)
        x = graph.find_nodes(op="placeholder")[0]
        output = graph.find_nodes(op="output")[0]
        output.args = ((output.args[0][0], [x, None], ()),)
        self.assertEqual(program_text(graph, ["x"]).function("g"), ["def g(x):", "    return x + 1, [x, None], ()"])
        output.args = ((x,),)
        self.assertEqual(program_text(graph, ["x"], bare=False).body, ["x + 1", "return (x,)"])
        output.args = ((),)
        self.assertEqual(program_text(graph, ["x"]).body, ["x + 1"])
        self.assertEqual(text_of(graph, bare=False).body, ["x + 1", "return ()"])

    def test_names_of_arguments(self) -> None:
        weights = [f"L_self_modules_blocks_modules_{n}_parameters_weight_" for n in (0, 1)]
        for given, wanted in [
            (["l_x_", weights[0]], ["x", "weight"]),
            (weights, ["blocks_0_weight", "blocks_1_weight"]),
            (["L_fn_modules_0_parameters_weight_", "L_fn_modules_1_parameters_weight_"], ["weight_0", "weight_1"]),
            (["argument_0", "argument_3", "l_x_", "s77", "l_args_0_"], ["y", "z", "x", "n", "w"]),
            (["L_self_modules_norm_buffers_running_mean_", "L_self_buffers_key_"], ["running_mean", "key"]),
            (["p_block_weight", "p_0_weight", "b_1_mean", "p"], ["block_weight", "weight", "mean", "p"]),
            (["getattr_1", "getitem_2_1", "l_x_"], ["y", "z", "x"]),
            (["l_key_cache_", "l_kwargs_mask_", "l_stack0_", "arg0_1"], ["key_cache", "mask", "x", "y"]),
            (["x", "x", "torch", "F", "class", "é", "a\nb", "print"],
             ["x", "x_2", "torch_2", "F_2", "value", "y", "a_b", "print_2"]),
        ]:  # fmt: skip
            self.assertEqual(argument_names(given), wanted)

    def test_hostile_texts(self) -> None:
        for name in ("a b", "x;import os", "é", "class", "a\nb", ""):
            graph = graph_of((name, [-1]))
            with self.assertRaises(NoForm):
                text_of(graph)
            graph = graph_of(("add", [-1]))
            list(graph.nodes)[1].kwargs = {name: 1}
            with self.assertRaises(NoForm):
                text_of(graph)
        with self.assertRaises(NoForm):
            text_of(graph_of((operator.add, [-1], object())))
        graph = graph_of((torch.einsum, "i->i\"'\n\\\u202e", [-1]))
        self.assertEqual(shown(text_of(graph)), "lambda x: torch.einsum('i->i\"\\'\\n\\\\\\u202e', x)")
        for arguments in (["a b"], ["torch"], ["x", "x"], ["None"], []):
            with self.assertRaises(ValueError):
                program_text(graph, arguments)
        with self.assertRaises(NoForm):
            graph = Graph()
            graph.output((graph.get_attr("a;b"),))
            text_of(graph)

    def test_a_higher_order_operator_without_its_graphs_has_no_text(self) -> None:
        def pick(x: Any) -> Any:
            return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

        with self.assertRaises(NoForm):
            text_of(captured(pick, X))

    def test_calls_under_modes_stand_in_blocks(self) -> None:
        graph = graph_of(("sin", [-1]), (operator.mul, [0], 2), ("cos", [1]), (torch.matmul, [2], [-1]), ("exp", [3]))
        grad, cast = {"grad": False}, {"autocast": ["cpu", "bfloat16", True]}
        modes = [[], [grad], [grad, cast], [cast], []]
        for node, its in zip((node for node in graph.nodes if "call" in node.op), modes):
            node.meta["modes"] = its
        text = program_text(graph, ["x"])
        self.assertEqual(text.body, [
            "sin = x.sin()",
            "with torch.no_grad():",
            "    product = sin * 2",
            "    with torch.autocast(\"cpu\", dtype=torch.bfloat16):",
            "        cos = product.cos()",
            "with torch.autocast(\"cpu\", dtype=torch.bfloat16):",
            "    product_2 = cos @ x",
            "return product_2.exp()",
        ])  # fmt: skip

    def test_graphs_of_a_cond_are_functions(self) -> None:
        short = {"takes": 1, "calls": [{"m": "cos", "a": [{"$": 0}]}], "gives": {"tuple": [{"$": 1}]}}
        calls = [{"f": "operator.iadd", "a": [{"$": 0}, {"%": 2}]}, {"m": "sin", "a": [{"$": 1}]}]
        long = {"takes": 1, "calls": calls, "gives": {"tuple": [{"$": 2}]}}
        graph, root = Graph(), torch.nn.Module()
        operands = [graph.placeholder("p"), graph.placeholder("x"), 3]
        arguments = [{"%": 0}, {"graph": long}, {"graph": short}, {"tuple": [{"%": 1}]}]
        made = Call({"f": "torch.ops.higher_order.cond", "a": arguments}, operands).add_to(graph, root)
        graph.output((graph.call_function(operator.getitem, (made, 0)),))
        text = program_text(graph, ["p", "x"])
        self.assertEqual(text.function("f"), [
            "def f(p, x):",
            "    def true_fn(x):",
            "        x += 3",
            "        return x.sin()",
            "    return torch.cond(p, true_fn, lambda x: x.cos(), (x,))",
        ])  # fmt: skip

    def test_a_loop_reads_what_stands_around_it(self) -> None:
        condition = {"takes": 3, "calls": [{"f": "operator.lt", "a": [{"$": 0}, {"%": 3}]}], "gives": {"$": 3}}
        calls = [{"f": "operator.add", "a": [{"$": 0}, {"%": 2}]}, {"f": "operator.add", "a": [{"$": 1}, {"$": 2}]}]
        body = {"takes": 3, "calls": calls, "gives": {"tuple": [{"$": 3}, {"$": 4}]}}
        graph, root = Graph(), torch.nn.Module()
        operands = [graph.placeholder("x"), graph.placeholder("y"), 1, 3, 0, ""]
        carried, around = {"tuple": [{"%": 4}, {"%": 0}]}, {"tuple": [{"%": 1}]}
        arguments = [{"graph": condition}, {"graph": body}, carried, around]
        call = {"f": "torch.ops.higher_order.while_loop", "a": arguments, "k": {"mutated_arg_indices": {"%": 5}}}
        made = Call(call, operands).add_to(graph, root)
        graph.output((graph.call_function(operator.getitem, (made, 1)),))
        text = program_text(graph, ["x", "y"])
        loop = "torch.while_loop(lambda x, z: x < 3, lambda x, z: (x + 1, z + y), (0, x))[1]"
        self.assertEqual(text.function("f"), ["def f(x, y):", f"    return {loop}"])
        x, y = torch.ones(2), torch.full((2,), 0.5)
        self.assertEqual(function_of(text)(x, y).tolist(), [2.5, 2.5])

    def test_a_loop_that_is_given_what_it_does_not_read_stays_the_operator(self) -> None:
        """A closure has only what it reads, and the failure may be that an operand is carried as well."""
        condition = {"takes": 3, "calls": [{"f": "operator.lt", "a": [{"$": 0}, {"%": 3}]}], "gives": {"$": 3}}
        calls = [{"f": "operator.add", "a": [{"$": 0}, {"%": 2}]}, {"m": "clone", "a": [{"$": 1}]}]
        body = {"takes": 3, "calls": calls, "gives": {"tuple": [{"$": 3}, {"$": 4}]}}
        graph, root = Graph(), torch.nn.Module()
        operands = [graph.placeholder("x"), graph.placeholder("y"), 1, 3, graph.placeholder("i")]
        arguments = [{"graph": condition}, {"graph": body}, {"tuple": [{"%": 4}, {"%": 0}]}, {"tuple": [{"%": 0}]}]
        made = Call({"f": "torch.ops.higher_order.while_loop", "a": arguments}, operands).add_to(graph, root)
        graph.output((graph.call_function(operator.getitem, (made, 1)),))
        text = program_text(graph, ["x", "y", "i"])
        self.assertIn("torch.ops.higher_order.while_loop(", "".join(text.function("f")))
        self.assertIn("(i, x), (x,))", "".join(text.function("f")))
        x = torch.ones(2)
        self.assertEqual(function_of(text)(x, x, torch.tensor(0)).tolist(), [1, 1])

    def test_a_loop_that_writes_around_itself_has_no_gradients(self) -> None:
        calls = [{"m": "add_", "a": [{"$": 1}, {"%": 2}]}, {"m": "sum", "a": [{"$": 0}]}]
        condition = {"takes": 2, "calls": [*calls, {"f": "operator.lt", "a": [{"$": 3}, {"%": 2}]}], "gives": {"$": 4}}
        body = {"takes": 2, "calls": [], "gives": {"tuple": [{"$": 0}]}}
        graph, root = Graph(), torch.nn.Module()
        arguments = [{"graph": condition}, {"graph": body}, {"tuple": [{"%": 0}]}, {"tuple": [{"%": 1}]}]
        call = {"f": "torch.ops.higher_order.while_loop", "a": arguments, "k": {"mutated_arg_indices": {"%": 3}}}
        Call(call, [graph.placeholder("x"), graph.placeholder("n"), 1, "1"]).add_to(graph, root)
        graph.output(())
        lines = program_text(graph, ["x", "n"]).function("f")
        self.assertIn("    with torch.no_grad():", lines)
        self.assertIn("lambda x: (x.clone(),), (x,))", lines[-1])

    def test_an_autograd_function_is_a_class(self) -> None:
        forward = {"takes": 1, "calls": [{"m": "exp", "a": [{"$": 0}]}],
                   "gives": {"tuple": [{"tuple": [{"$": 1}]}, {"tuple": [{"$": 1}]}]}}  # fmt: skip
        backward = {"takes": 2, "calls": [{"f": "operator.mul", "a": [{"$": 0}, {"$": 1}]}],
                    "gives": {"tuple": [{"$": 2}]}}  # fmt: skip
        graph, root = Graph(), torch.nn.Module()
        arguments = [{"graph": forward}, {"graph": backward}, {"%": 0}]
        given: dict[str, Any] = {"non_differentiable_idx": [], "saved_for_backward_idx": []}
        call = {"f": "torch.ops.higher_order.autograd_function_apply", "a": arguments, "k": given}
        made = Call(call, [graph.placeholder("x")]).add_to(graph, root)
        graph.output((graph.call_function(operator.getitem, (made, 0)),))
        text = program_text(graph, ["x"])
        space: dict[str, Any] = {"torch": torch}
        exec("\n".join([*text.classes, *text.function("f")]), space)
        x = torch.rand(3, requires_grad=True)
        space["f"](x).sum().backward()
        assert x.grad is not None
        self.assertTrue(torch.equal(x.grad, x.exp()))

    def test_levels_of_torch_func_are_called_as_people_do(self) -> None:
        graph, root = Graph(), torch.nn.Module()
        body = {"takes": 2, "calls": [{"f": "operator.mul", "a": [{"$": 0}, {"$": 1}]}, {"m": "sum", "a": [{"$": 2}]}],
                "gives": {"tuple": [{"$": 3}]}}  # fmt: skip
        x, y = graph.placeholder("x"), graph.placeholder("y")
        arguments = [{"graph": body}, {"tuple": [{"%": 2}]}, {"%": 0}, {"%": 1}]
        grad = Call({"f": "fx_func.differentiated", "a": arguments}, [x, y, 0]).add_to(graph, root)
        arguments = [{"graph": body}, {"%": 2}, {"%": 2}, {"%": 0}, {"%": 1}, {"%": 3}]
        total = Call({"m": "sum", "a": [{"%": 0}]}, [x]).add_to(graph, root)
        pulled = Call({"f": "fx_func.pulled", "a": arguments}, [x, y, 1, total]).add_to(graph, root)
        graph.output((graph.call_function(operator.getitem, (grad, 0)),
                      graph.call_function(operator.getitem, (pulled, 0))))  # fmt: skip
        self.assertEqual(program_text(graph, ["x", "y"]).function("f"), [
            "def f(x, y):",
            "    gradients = torch.func.grad(lambda x, y: (x * y).sum())(x, y)",
            "    part = torch.func.vjp(lambda x: (x * y).sum(), x)[1](x.sum())[0]",
            "    return gradients, part",
        ])  # fmt: skip

    def test_flex_attention_is_called_as_people_do(self) -> None:
        graph, root = Graph(), torch.nn.Module()
        added = [{"f": "operator.getitem", "a": [{"$": 5}, {"$": 2}]}, {"f": "operator.add", "a": [{"$": 0}, {"$": 6}]}]
        score = {"takes": 6, "calls": added, "gives": {"$": 7}}
        mask = {"takes": 4, "calls": [{"f": "operator.ge", "a": [{"$": 2}, {"$": 3}]}], "gives": {"$": 4}}
        none = {"none": 1}
        blocks = [{"%": 4}, {"%": 4}, {"%": 5}, {"%": 5}, *[none] * 10, {"%": 4}, {"%": 4}, {"graph": mask}]
        arguments = [{"%": 0}, {"%": 1}, {"%": 2}, {"graph": score}, {"tuple": blocks}, {"%": 6}, {"dict": []},
                     {"tuple": [{"%": 3}]}, {"tuple": []}]  # fmt: skip
        given = [graph.placeholder(name) for name in ("q", "k", "v", "bias", "n")]
        operands = [*given[:4], 128, given[4], 0.5]
        call = {"f": "torch.ops.higher_order.flex_attention", "a": arguments}
        made = Call(call, operands).add_to(graph, root)
        graph.output((graph.call_function(operator.getitem, (made, 0)),))
        text = program_text(graph, ["q", "k", "v", "bias", "n"])
        self.assertEqual(text.imports, ["from torch.nn.attention.flex_attention import BlockMask, flex_attention"])
        source = " ".join(" ".join(text.function("f")).split())
        self.assertIn("block_mask = BlockMask((128, 128), n, n, None,", source)
        self.assertIn("BLOCK_SIZE=(128, 128), mask_mod=lambda x, y, z, w: z >= w)", source)
        called = "score_mod=lambda x, y, z, w, v: x + bias[z], block_mask=block_mask, scale=0.5, enable_gqa=True)"
        self.assertIn(called, source)

    def test_a_hook_is_registered_as_people_do(self) -> None:
        graph, root = Graph(), torch.nn.Module()
        hook = {"takes": 2, "calls": [{"f": "operator.mul", "a": [{"$": 0}, {"$": 1}]}], "gives": {"$": 2}}
        x, y = graph.placeholder("x"), graph.placeholder("y")
        sin = Call({"m": "sin", "a": [{"%": 0}]}, [x]).add_to(graph, root)
        call = {"f": "torch.ops.higher_order.register_hook", "a": [{"%": 0}, {"graph": hook}, {"%": 1}]}
        hooked = Call(call, [sin, y]).add_to(graph, root)
        graph.output((Call({"m": "cos", "a": [{"%": 0}]}, [hooked]).add_to(graph, root),))
        self.assertEqual(program_text(graph, ["x", "y"]).function("f"), [
            "def f(x, y):",
            "    sin = x.sin()",
            "    sin.register_hook(lambda x: x * y)",
            "    return sin.cos()",
        ])  # fmt: skip

    def test_functions_of_numpy_are_written_with_np(self) -> None:
        def function(x: torch.Tensor) -> torch.Tensor:
            return torch.from_numpy(np.linalg.norm(x.numpy() * 2, axis=0))

        text = program_text(captured(function, torch.ones(2, 3)), ["x"])
        self.assertIn("import numpy as np", text.imports)
        self.assertIn("np.linalg.norm(x.view_as(x).numpy() * 2, axis=0)", " ".join(text.function("f")))

    def test_functions_of_numpy_stay_before_what_is_written_then(self) -> None:
        def function(x: torch.Tensor) -> torch.Tensor:
            less = np.negative(x.numpy())
            x.add_(1)
            return torch.from_numpy(np.square(less))

        self.check(captured(function, torch.ones(3)), [torch.ones(3)])

    def test_exported_models(self) -> None:
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        convolutions = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU(inplace=True),
            torch.nn.MaxPool2d(2), torch.nn.Upsample(scale_factor=1.5), torch.nn.AdaptiveAvgPool2d(2),
            torch.nn.Flatten(), torch.nn.Linear(16, 3), torch.nn.LogSoftmax(1))  # fmt: skip
        for model, x in ((layer, torch.randn(2, 5, 8)), (convolutions, torch.randn(2, 1, 6, 6))):
            for module in (model.train(), model.eval()):
                exported = torch.export.export(module, (x,))
                for graph in (exported.graph, exported.run_decompositions().graph):
                    held = {**exported.state_dict, **exported.constants}
                    signed = exported.graph_signature
                    signature = signed.inputs_to_parameters | signed.inputs_to_buffers
                    inputs = [held[signature[str(node.target)]].detach() if node.target in signature else x
                              for node in graph.find_nodes(op="placeholder")]  # fmt: skip
                    if graph is exported.graph:
                        self.check(graph, inputs)
                    else:
                        self.assertLessEqual(max(map(len, text_of(graph).function())), 100)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main(warnings="ignore")
