"""Graphs of Dynamo's in the FX dialect: every call is kept, and decoded again does the same to the bit."""

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
import fx_call  # noqa: E402
import fx_candidate  # noqa: E402
import fx_graph_of  # noqa: E402
import fx_program  # noqa: E402
import fx_run  # noqa: E402
import torch  # noqa: E402
from agreement import Ran, difference, run  # noqa: E402
from fx_compiled import FxCompiled  # noqa: E402
from fx_functions import FUNCTIONS, augmented, switched, through_view  # noqa: E402
from fx_trace import graph_of  # noqa: E402
from loaded import Loaded  # noqa: E402
from refused import Refused  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

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


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_graph_of_dynamos(function: Function) -> None:
    torch.manual_seed(1)
    x, y = torch.rand(6), torch.rand(6)
    module, args = captured(function, x.clone(), y.clone())
    made = fx_graph_of.convert(Loaded(module, args))
    loaded = again(made.script)
    nodes = [node for node in graph_of(module).nodes if node.op.startswith("call_")]
    assert 0 < len(calls_of(loaded)) <= len(nodes)

    def expected(*given: Any) -> Any:
        with torch.enable_grad():  # as it was captured
            results = module(*given)
        return results or (given[0],)  # what returns nothing returns what it writes to

    theirs = as_ran(expected, args)
    assert difference(as_ran(lambda *given: fx_run.run(loaded, given), made.inputs), theirs) == ""
    # The graph that a compiler is handed does the same, where gradients are off around it.
    handed = FxCompiled(loaded, fx_candidate.holder_of(loaded), fx_candidate.build, lambda graph, _: graph)
    assert difference(as_ran(handed, made.inputs), theirs) == ""


def targets(graph: Any) -> list[str]:
    nodes = [node for node in graph.nodes if node.op.startswith("call_")]
    return [fx_call.name_of(node.target) if node.op == "call_function" else node.target for node in nodes]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_source_that_is_read_again_has_the_same_calls(function: Function, tmp_path: Path) -> None:
    graph_program = pytest.importorskip("repro_minify.graph_program")
    from repro_minify.graphs import Graph

    module, args = captured(function, torch.rand(6), torch.rand(6))
    assert graph_program.save_graph(Graph(module, args), tmp_path / "program.py", False) == ""
    with torch.set_grad_enabled(False):
        text = (tmp_path / "program.py").read_text()
        loaded = fx_program.read(text, str(tmp_path / "program.py"), 0)
    assert fx_program.is_one(text) and loaded.grad == graph_program.differentiates(module)
    assert targets(graph_of(loaded.module)) == targets(graph_of(module))
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
    ):
        with pytest.raises(Refused, match=said):
            read(body)


PROGRAM = f"""{fx_program.MARK}
import torch
class Repro(torch.nn.Module):
    def forward(self, x, y):
        x[1:] = y[1:]
        return (x * 2,)
def load_args(device=None):
    return [torch.ones(3), torch.rand(3, requires_grad=True)]
if __name__ == "__main__":
    run_repro()
"""


ONLY_WITH_ALL = pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")


@pytest.mark.parametrize("is_installed", [pytest.param(False, marks=ONLY_WITH_ALL), True])
def test_convert_says_the_dialect(is_installed: bool, tmp_path: Path) -> None:
    folder = ROOT / "src" / "inputs" / "python"
    if is_installed:
        shutil.copytree(ROOT / "src" / "backends" / "inductor", tmp_path / "inductor")
        folder = Path(shutil.copytree(folder, tmp_path / "convert"))
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [sys.executable, "-B", str(folder / "convert.py"), "program", str(tmp_path / "program.py"), str(tmp_path)]
    words.append("--calls")
    subprocess.run(words, check=True)
    answer = json.loads((tmp_path / "answer.json").read_text())
    (graph,) = answer["graphs"]
    assert graph["dialect"] == "fx" and graph["operators"] == 3, answer
    script, inputs = torch.jit.load(tmp_path / "converted-1.pt"), torch.load(tmp_path / "converted-1_inputs.pt")
    assert [x.requires_grad for x in inputs] == [False, True]
    assert calls_of(script) == ["fx::tensor", "fx::effect_", "fx::tensor"]


def test_with_gradients_and_in_place_it_is_seen_without() -> None:
    module, args = captured(augmented, torch.rand(6), torch.rand(6))
    given = (args[0].requires_grad_(), args[1])
    made = fx_graph_of.convert(Loaded(module, given))
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
    made = fx_graph_of.convert(Loaded(module, (x, 3), names=["x", "count"]))
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
    made = fx_graph_of.convert(Loaded(module, args))
    assert calls_of(made.script) == ["fx::tensor", "fx::tensor_", "fx::tensor"]


def test_symbolic_sizes_are_bound() -> None:
    module, args = captured(lambda x, n: x.reshape(n, -1) * (n + 1), torch.rand(6, 5), 3, dynamic=True)
    made = fx_graph_of.convert(Loaded(module, args))
    assert any("in every call, a constant of the program" in note for note in made.notes)
    assert all(isinstance(x, torch.Tensor) for x in made.inputs)


def test_a_call_says_its_modes_and_is_not_switched_by_others() -> None:
    module, args = captured(switched, torch.rand(6), torch.rand(6))
    made = fx_graph_of.convert(Loaded(module, args))
    calls = [json.loads(node.inputsAt(0).toIValue()) for node in made.script.graph.nodes() if "fx::" in node.kind()]
    assert [call.get("in") for call in calls] == [[{"grad": False}], None, None]


def left_half_way(x: Any) -> Any:
    """A level whose values are read when it has been left."""
    with torch._functorch.eager_transforms.grad_increment_nesting() as level:
        inner = torch._C._functorch._wrap_for_grad(x, level).sin()
    return inner + 1


@torch.library.custom_op("repro_minify_fx_tests::threefold", mutates_args=())
def threefold(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@threefold.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@pytest.mark.parametrize(
    "function, said",
    [
        (left_half_way, "a level of torch.func is entered that has no form"),
        (lambda x: threefold(x) + 1, "_tests::threefold, an operator that is registered from Python; --import names"),
    ],
)
def test_what_has_no_form_is_refused_by_its_name(function: Function, said: str) -> None:
    module, args = captured(function, torch.ones(2, 2, requires_grad=True))
    with pytest.raises(Refused, match=said):
        fx_graph_of.convert(Loaded(module, args))


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
    made = fx_graph_of.convert(Loaded(module, tuple(torch.rand(2) for _ in HOSTILE), names=HOSTILE))
    assert len(calls_of(again(made.script))) == len(HOSTILE)


@pytest.mark.parametrize("text", ['it\'s "so" \\', "\n", "\0", "é", "\\n", "'''", "{%}", "\u2028"])
def test_hostile_texts_reach_the_call(text: str) -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(torch.einsum, ("i", x)))
    module = torch.fx.GraphModule({}, graph)
    made = fx_graph_of.convert(Loaded(module, (torch.rand(2),)))
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


@pytest.mark.skipif(torch.cuda.is_available(), reason="the device is here")
def test_a_device_that_is_not_here_is_the_cpu() -> None:
    class OnCuda(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            ones = torch.ones(3, device=torch.device("cuda", 0)).to("cuda:0")
            return x.cuda() + ones + x.new_zeros(3, device="cpu")

    made = fx_graph_of.convert(Loaded(OnCuda(), (torch.ones(3),), names=["x"]))
    assert torch.equal(fx_run.run(made.script, made.inputs), torch.full((3,), 2.0))
    assert made.notes == ["cuda is not here: the CPU takes its place"]
    assert '"cuda' not in str(made.script.graph)
