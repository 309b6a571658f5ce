"""Graphs of Dynamo's in the FX dialect: every call is kept, and decoded again does the same to the bit."""

import io
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]
for folder in ("src/inputs/python", "src/backends/inductor"):
    sys.path.append(str(ROOT / folder))

import fx_graph_of  # noqa: E402
import fx_program  # noqa: E402
import fx_run  # noqa: E402
import torch  # noqa: E402
from agreement import Ran, difference, run  # noqa: E402
from fx_trace import graph_of  # noqa: E402
from loaded import Loaded  # noqa: E402
from refused import Refused  # noqa: E402
from torch.nn import functional as F  # noqa: E402

Function = Callable[..., Any]


def captured(function: Function, *args: Any, dynamic: bool = False) -> tuple[Any, tuple[Any, ...]]:
    """Returns the one graph that Dynamo makes, and what it is given."""
    found: list[tuple[Any, tuple[Any, ...]]] = []

    def keep(module: Any, examples: Any) -> Function:
        def call(*given: Any) -> Any:
            found.append((module, tuple(x.clone() if isinstance(x, torch.Tensor) else x for x in given)))
            return module.forward(*given)

        return call

    torch._dynamo.reset()
    torch.compile(function, backend=keep, dynamic=dynamic, fullgraph=True)(*args)
    (one,) = found
    return one


def again(script: Any) -> Any:
    file = io.BytesIO()
    torch.jit.save(script, file)
    file.seek(0)
    return torch.jit.load(file)


def calls_of(script: Any) -> list[str]:
    graph = script.graph
    return [node.kind() for node in graph.nodes() if node.kind().startswith("fx::")]


def as_ran(call: Function, inputs: tuple[Any, ...]) -> Ran:
    def tensors(*given: Any) -> Any:
        return [x for x in torch.utils._pytree.tree_leaves(call(*given)) if isinstance(x, torch.Tensor)]

    with torch.random.fork_rng():
        return run(tensors, inputs, [], False)


def set_part(x: Any, y: Any) -> Any:
    x[1:] = y[1:]
    x[x > 0.5] = 0
    return x + 1


def augmented(x: Any, y: Any) -> Any:
    x += y
    x *= 2
    x -= 1
    return x.clone()


def foreach(x: Any, y: Any) -> Any:
    torch._foreach_mul_([x, y], [y.flip(0), x])
    return torch._foreach_add([x, y], 1)


def halves(x: Any, y: Any) -> Any:
    view = x.view(torch.int32)
    view += 1
    return view.view(torch.float32), y


def through_view(x: Any, y: Any) -> Any:
    part = x[2:4]
    part.mul_(3)
    return x.sum(), part


def written_out(x: Any, y: Any) -> Any:
    out = torch.empty_like(x)
    torch.add(x, y, out=out)
    return out


def named(x: Any, y: Any) -> Any:
    values, indices = torch.max(x.reshape(2, 3), 1)
    return values, indices, torch.sort(y).values


def parts(x: Any, y: Any) -> Any:
    first, *others = torch.split(x, 2)
    return first + others[-1], torch.cat(others)


def pooled(x: Any, y: Any) -> Any:
    values, indices = F.max_pool1d(x[None], 2, return_indices=True)
    return values, indices, F.avg_pool1d(x[None, None], 2, ceil_mode=True)


def numbers(x: Any, y: Any) -> Any:
    return torch.full((), math.inf), torch.full((2,), -math.inf), torch.zeros(2, dtype=torch.complex64) + 1j, x * -0.0


def dtypes(x: Any, y: Any) -> Any:
    return x.half().float(), y.to(torch.bfloat16), x.to(memory_format=torch.preserve_format)


def indexed(x: Any, y: Any) -> Any:
    return x[None, ..., ::2], x[y.argsort()], x[[0, 2]]


def einsum(x: Any, y: Any) -> Any:
    return torch.einsum("i,j->ij", x, y)


def no_results(x: Any, y: Any) -> None:
    x.add_(y)


def norms(x: Any, y: Any) -> Any:
    return F.layer_norm(x, (6,), weight=y), F.gelu(x, approximate="tanh"), F.softmax(y, dim=-1, dtype=torch.float64)


def attention(x: Any, y: Any) -> Any:
    query, key = x.view(1, 1, 3, 2), y.view(1, 1, 3, 2)
    return F.scaled_dot_product_attention(query, key, key, is_causal=True)


def interpolated(x: Any, y: Any) -> Any:
    return F.interpolate(x[None, None], scale_factor=1.3, mode="nearest")


def drawn(x: Any, y: Any) -> Any:
    return F.dropout(x, 0.5, True) + torch.rand(6), torch.randn_like(y)


def fills(x: Any, y: Any) -> Any:
    x.fill_(3)
    x[0] = y[1]
    return x.masked_fill_(y > 0.5, 7.0)


def scalars(x: Any, y: Any) -> Any:
    return 2 / x, x // 0.3, 3 - y, -x, abs(y), x**2, ~(x > y), x @ y


def scattered(x: Any, y: Any) -> Any:
    index = torch.tensor([0, 2, 4])
    return x.index_add_(0, index, y[:3]), torch.scatter(y, 0, index, 1.0)


def copied(x: Any, y: Any) -> Any:
    x[:] = y[:]
    y.add_(1)
    return x


def overlapping(x: Any, y: Any) -> Any:
    return (x + 1).unfold(0, 2, 1), torch.as_strided(y, (2, 2), (1, 1))


def resized(x: Any, y: Any) -> Any:
    return torch.stack([x, y], dim=1).permute(1, 0).contiguous(), F.pad(x, (1, 2), value=0.5)


def complex_parts(x: Any, y: Any) -> Any:
    z = torch.complex(x, y)
    return z.real, torch.view_as_real(z), z.T


def conditional(x: Any, y: Any) -> Any:
    return torch.where(x > y, x, y), torch.clamp(x, min=0.2, max=None), x.clamp_(max=0.5)


def statistics(x: Any, y: Any) -> Any:
    return torch.var_mean(x), torch.aminmax(y), torch.topk(x, 2)


def texts(x: Any, y: Any) -> Any:
    return torch.div(x, y, rounding_mode="floor"), torch.linalg.norm(x.reshape(2, 3), ord="fro")


def same_twice(x: Any, y: Any) -> Any:
    x.mul_(2)
    return x, x, y


def fft(x: Any, y: Any) -> Any:
    return torch.fft.rfft(x), torch.special.expit(y)


FUNCTIONS = [
    *(set_part, augmented, foreach, halves, through_view, written_out, named, parts, pooled, numbers, dtypes, indexed),
    *(einsum, no_results, norms, attention, interpolated, drawn, fills, scalars, scattered, copied, overlapping),
    *(resized, complex_parts, conditional, statistics, texts, same_twice, fft),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_graph_of_dynamos(function: Function) -> None:
    torch.manual_seed(1)
    x, y = torch.rand(6), torch.rand(6)
    module, args = captured(function, x.clone(), y.clone())
    made = fx_graph_of.convert(Loaded(module, args, is_fx=True))
    loaded = again(made.script)
    nodes = [node for node in graph_of(module).nodes if node.op.startswith("call_")]
    assert 0 < len(calls_of(loaded)) <= len(nodes)

    def expected(*given: Any) -> Any:
        results = module(*given)
        return results or (given[0],)  # what returns nothing returns what it writes to

    ours = as_ran(lambda *given: fx_run.run(loaded, given), made.inputs)
    assert difference(ours, as_ran(expected, args)) == ""


def targets(graph: Any) -> list[tuple[str, Any]]:
    return [(node.op, node.target) for node in graph.nodes if node.op.startswith("call_")]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_source_that_is_read_again_has_the_same_calls(function: Function, tmp_path: Path) -> None:
    graph_program = pytest.importorskip("repro_minify.graph_program")
    from repro_minify.graphs import Graph

    module, args = captured(function, torch.rand(6), torch.rand(6))
    assert graph_program.save_graph(Graph(module, args), tmp_path / "program.py", False) == ""
    with torch.set_grad_enabled(False):
        text = (tmp_path / "program.py").read_text()
        loaded = fx_program.read(text, str(tmp_path / "program.py"), 0)
    assert fx_program.is_one(text) and not loaded.grad
    assert targets(graph_of(loaded.module)) == targets(module.graph)
    assert calls_of(fx_graph_of.convert(loaded).script)


def test_a_program_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    def read(body: str) -> Any:
        return fx_program.read(f"{fx_program.MARK}\nimport torch\n{body}", str(tmp_path / "program.py"), 0)

    repro = "class Repro(torch.nn.Module):\n  def forward(self, x):\n    return x\n"
    for body, said in (
        ("x =", "is no Python program"),
        ("1 / 0", "the program itself ends with ZeroDivisionError"),
        ("exit(3)", "the program itself ends with SystemExit"),
        (repro, "does not define load_args"),
        (
            repro + "def load_args(device): return torch.load('/nowhere')",
            "its data cannot be loaded: FileNotFoundError",
        ),
        ("torch._C._functorch", "yet: levels of torch.func"),
    ):
        with pytest.raises(Refused, match=said):
            read(body)


def test_with_gradients_and_in_place_it_is_seen_without() -> None:
    module, args = captured(augmented, torch.rand(6), torch.rand(6))
    given = (args[0].requires_grad_(), args[1])
    made = fx_graph_of.convert(Loaded(module, given, is_fx=True))
    assert made.inputs[0].requires_grad != made.inputs[1].requires_grad
    assert made.notes == ["with gradients it raises, so that what its calls do was seen without"]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(6, 3)
        self.norm = torch.nn.LayerNorm(3)
        self.pool = torch.nn.MaxPool1d(2)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x: Any, count: Any) -> Any:
        y = self.pool(self.norm(self.layer(x))[None])[0]
        self.seen += 1
        y[0, 0] = 5
        y *= count
        return y + torch.zeros(()) + self.seen.sum()


def test_a_module_is_traced_into_and_its_tensors_are_inputs() -> None:
    module, x = Net(), torch.rand(4, 6)
    made = fx_graph_of.convert(Loaded(module, (x, 3), names=["x", "count"], is_fx=True))
    names = [value.debugName().split(".")[0] for value in made.script.graph.inputs()]
    assert names[1:3] == ["x", "layer_weight"] and "seen" in names and len(made.inputs) == len(names) - 1
    assert made.notes == ["count is 3 in every call, a constant of the program"]
    source = str(made.script.graph)
    for call in ("operator.setitem", "operator.iadd", "operator.imul", "functional.max_pool1d", "torch.zeros"):
        assert call in source
    assert module.seen.tolist() == [0, 0, 0]
    assert made.script.graph.findNode("fx::tensor_") is not None


def test_a_call_that_writes_is_known_by_its_kind() -> None:
    module, args = captured(through_view, torch.rand(6), torch.rand(6))
    made = fx_graph_of.convert(Loaded(module, args, is_fx=True))
    assert calls_of(made.script) == ["fx::tensor", "fx::tensor_", "fx::tensor"]


def test_symbolic_sizes_are_bound() -> None:
    module, args = captured(lambda x, n: x.reshape(n, -1) * (n + 1), torch.rand(6, 5), 3, dynamic=True)
    made = fx_graph_of.convert(Loaded(module, args, is_fx=True))
    assert any("in every call, a constant of the program" in note for note in made.notes)
    assert all(isinstance(x, torch.Tensor) for x in made.inputs)


def autocast(x: Any) -> Any:
    with torch.autocast("cpu"):
        return x @ x


def switched(x: Any) -> Any:
    with torch.no_grad():
        y = x + 1
    return y * x


def branched(x: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


def inference(x: Any) -> Any:
    with torch.inference_mode():
        return x + 1


def mapped(x: Any) -> Any:
    return torch.func.vmap(lambda row: row.sum() + 1)(x)


@torch.library.custom_op("repro_minify_fx_tests::threefold", mutates_args=())
def threefold(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@threefold.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@pytest.mark.parametrize(
    "function, said",
    [
        (autocast, "yet: autocast is switched on or off inside the graph"),
        (switched, "yet: gradients are switched on or off inside the graph"),
        (inference, "yet: inference mode is entered inside the graph"),
        (mapped, "yet: levels of torch.func are entered inside the graph"),
        (branched, "the higher-order operator cond"),
        (lambda x: threefold(x) + 1, "repro_minify_fx_tests::threefold, an operator that is registered from Python"),
    ],
)
def test_what_has_no_form_is_refused_by_its_name(function: Function, said: str) -> None:
    module, args = captured(function, torch.ones(2, 2, requires_grad=True))
    with pytest.raises(Refused, match=said):
        fx_graph_of.convert(Loaded(module, args, is_fx=True))


HOSTILE = ["torch", "self", "lambda", "inf", "a b", "", "1x", "x');import os#", "é", "x\n  return 1", "x" * 999]


def test_hostile_names_become_identifiers() -> None:
    graph = torch.fx.Graph()
    nodes = []
    for i, name in enumerate(HOSTILE):
        node = graph.placeholder(f"p{i}")
        node.name = node.target = name
        nodes.append(node)
    graph.output(tuple(graph.call_function(torch.neg, (node,)) for node in nodes))
    module = torch.fx.GraphModule({}, torch.fx.Graph())
    module._graph = graph
    module.forward = lambda *given: tuple(-x for x in given)
    module.__deepcopy__ = lambda memo: module
    made = fx_graph_of.convert(Loaded(module, tuple(torch.rand(2) for _ in HOSTILE), names=HOSTILE, is_fx=True))
    assert len(calls_of(again(made.script))) == len(HOSTILE)


@pytest.mark.parametrize("text", ['it\'s "so" \\', "\n", "\0", "é", "\\n", "'''", "{%}", "\u2028"])
def test_hostile_texts_reach_the_call(text: str) -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(torch.einsum, ("i", x)))
    module = torch.fx.GraphModule({}, graph)
    made = fx_graph_of.convert(Loaded(module, (torch.rand(2),), is_fx=True))
    x.replace_all_uses_with(x)
    from fx_call import Call, encode

    call = next(node for node in graph.nodes if node.op == "call_function")
    call.kwargs = {"text": text}
    encoded, operands = encode(call)
    from fx_source import compiled, quoted

    words = [quoted(encoded), *("x" if isinstance(one, torch.fx.Node) else quoted(one) for one in operands)]
    script = again(compiled(f"def forward(self, x):\n  return torch.ops.fx.tensor({', '.join(words)})\n"))
    node = script.graph.findNode("fx::tensor")
    values = [None if value.node().kind() == "prim::Param" else value.toIValue() for value in node.inputs()]
    assert Call(values[0], values[1:]).kwargs == {"text": text}
    assert len(calls_of(made.script)) == 1
