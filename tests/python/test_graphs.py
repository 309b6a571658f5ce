"""The graphs that Dynamo makes: captured with their inputs, saved as programs, and reduced where the trace passes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import repro_minify
import torch
from models import doubled
from repro_minify import checking, minifying
from repro_minify.graph_program import MARK, readable, save_graph
from repro_minify.graphs import Graph, Graphs, graphs_of
from repro_minify.options import MinifyOptions
from repro_minify.original import Original
from repro_minify.saved_graphs import save_graphs

X = torch.tensor([2.0, 3.0])


def mirrored(x: torch.Tensor) -> torch.Tensor:
    """TorchInductor of 2.13 reads what it has written."""
    torch._foreach_mul_([x], [x.flip(0)])
    return x


def assigned(x: torch.Tensor, y: torch.Tensor) -> Any:
    x[1:] = y[:-1].clone()
    x += 1
    return x.view(torch.int32), torch.max(y, 0).values, torch.full((2,), float("inf"))


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x.sin() + 1
    torch._dynamo.graph_break()
    return y * 2


def sized(x: torch.Tensor, n: int, flag: bool = True) -> torch.Tensor:
    return x.reshape(n, -1).sum(0) if flag else x


@torch.library.custom_op("repro_minify_tests::fourfold", mutates_args=())
def fourfold(x: torch.Tensor) -> torch.Tensor:
    return x * 4


@fourfold.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def targets(graph: Graph) -> list[str]:
    nodes = [node for node in graph.module.graph.nodes if node.op.startswith("call_")]
    return [node.target if isinstance(node.target, str) else node.target.__name__ for node in nodes]


def executed(path: Path) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "program", "__file__": str(path)}
    with torch.set_grad_enabled(torch.is_grad_enabled()):
        exec(compile(path.read_text(), str(path), "exec"), space)
    return space


def saved(call: Callable[..., Any], *args: Any, grad: bool = False) -> tuple[Graphs, list[str]]:
    graphs = graphs_of(call, args, {}, grad)
    problems = [save_graph(graph, Path(f"program-{i}.py"), grad) for i, graph in enumerate(graphs)]
    return graphs, problems


def test_the_default_dtype_is_the_users() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        saved(lambda x: x * torch.tensor([0.1, 0.2]), torch.ones(2, dtype=torch.float32))
    finally:
        torch.set_default_dtype(torch.float32)
    assert "\ntorch.set_default_dtype(torch.float64)\n" in Path("program-0.py").read_text()


def test_calls_are_kept_with_the_inputs_of_the_first_call() -> None:
    x = X.clone()
    (graph,) = graphs = graphs_of(mirrored, (x,), {}, False)
    assert targets(graph) == ["flip", "_foreach_mul_"] and graphs.problem == ""
    assert graph.args[0].tolist() == [2.0, 3.0] and x.tolist() == [2.0, 3.0]


def test_a_graph_break_makes_two() -> None:
    graphs = graphs_of(broken, (X,), {}, False)
    assert [targets(graph)[-1] for graph in graphs] == ["add", "mul"]
    assert torch.equal(graphs[1].args[0], X.sin() + 1)


def test_numbers_among_the_arguments_are_constants() -> None:
    (graph,) = graphs_of(sized, (torch.ones(6), 3), {"flag": True}, False)
    assert len(graph.args) == 1 and targets(graph) == ["reshape", "sum"]


def test_what_shares_memory_shares_it_still() -> None:
    base = torch.rand(4)
    (graph,) = graphs_of(lambda x, y: x.mul_(2) + y, (base[:2], base[1:3]), {}, False)
    first, second = graph.args
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def test_gradients_are_wished_for_and_compared() -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    graphs, problems = saved(layer, torch.rand(4, 3), grad=True)
    assert graphs.problem == "" and problems == [""]
    assert [x.requires_grad for x in graphs[0].args].count(True) == 5
    program = executed(Path("program-0.py"))
    with torch.enable_grad():
        assert len(program["run"](program["Repro"]())) == 1 + 8 + 5


def test_a_wrong_capture_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from repro_minify import graphs as module

    monkeypatch.setattr(module, "difference", lambda *_: "value 1 is another")
    assert graphs_of(mirrored, (X,), {}, False).problem == "value 1 is another"


@pytest.mark.parametrize(
    "call, args", [(assigned, (torch.rand(4), torch.rand(4))), (mirrored, (X,)), (torch.sin, (X,))]
)
def test_a_program_does_what_its_graph_does(call: Callable[..., Any], args: tuple[Any, ...]) -> None:
    graphs, problems = saved(call, *args)
    assert problems == [""]
    text = Path("program-0.py").read_text()
    assert text.startswith(MARK + "\n") and "run_repro" in text and "load_args" in text and "L_x_" not in text
    program = executed(Path("program-0.py"))
    given, same = program["load_args"](), program["load_args"]()
    results = program["Repro"]()(*given)
    expected = graphs[0].module(*same)
    for a, b in zip([*results, *given], [*expected, *same], strict=True):
        assert torch.equal(a, b)


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_a_program_run_by_hand_says_whether_it_fails() -> None:
    saved(mirrored, X)
    ended = subprocess.run([sys.executable, "program-0.py"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (
        1,
        "fails: value 1 of 2 is another than in eager (float64 was not asked)\n",
    ), ended.stderr


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_a_program_registers_the_operators_that_only_inductor_has() -> None:
    """Dynamo of 2.13 writes addcmul_ with a value as prims.fma."""
    saved(lambda x: x.addcmul_(x, x, value=0.5), X)
    assert "prims.fma" in Path("program-0.py").read_text()
    ended = subprocess.run([sys.executable, "program-0.py"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_a_symbolic_size_is_read_of_the_input_that_has_it(work: Path) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.sin().view(x.shape[0], 2, -1).sum(1) * x.shape[0]

    (graph,) = graphs_of(function, (torch.rand(3, 4),), {}, False, dynamic=True)
    assert save_graph(graph, Path("program.py"), False) == ""
    space = executed(Path("program.py"))
    assert "size(0)" in Path("program.py").read_text()
    for x in (*space["load_args"](), torch.rand(5, 4)):
        torch.testing.assert_close(space["Repro"]()(x)[0], function(x))


def test_tensors_of_the_graph_are_further_arguments() -> None:
    root = torch.nn.Module()
    root.register_buffer("L_self_modules_scale_buffers_of_", X.clone())
    graph = torch.fx.Graph()
    x = graph.placeholder("L_x_")
    tensors = [graph.get_attr("L_self_modules_scale_buffers_of_") for _ in range(2)]
    graph.output((graph.call_method("mul", (x, tensors[0])), graph.call_method("mul", tuple(tensors))))
    save_graph(Graph(torch.fx.GraphModule(root, graph), (X,)), Path("program.py"), False)
    assert "def forward(self, x, scale_of):" in Path("program.py").read_text()
    assert len(executed(Path("program.py"))["load_args"]()) == 2 and Path("data.pt").exists()


def test_nested_graphs_are_classes_of_their_own() -> None:
    graphs, problems = saved(lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)), X)
    assert problems == [""]
    assert torch.equal(executed(Path("program-0.py"))["Repro"]()(X)[0], X + 1)


@pytest.mark.parametrize(
    "target, name",
    [
        ("L_self_modules_stem_parameters_weight_", "stem_weight"),
        ("L_model_parameters_w_", "w"),
        ("L_x_", "x"),
        ("L_x_modulesque_", "x_modulesque"),
        ("L_args_0_", "args_0"),
        ("L_torch_", "x_torch"),
        ("L_0_", "x_0"),
        ("L_lambda_", "x_lambda"),
        ("é'); import os", "import_os"),
        ("", "x"),
    ],
)
def test_names_are_readable(target: str, name: str) -> None:
    assert readable(target) == name


def test_they_are_saved_in_a_process_apart() -> None:
    found = save_graphs(broken, X, Path("failing"), {})
    assert [path.name for path in found.programs] == ["program.py", "program-2.py"]
    assert sorted(path.name for path in Path("failing").iterdir()) == [
        "data-2.pt",
        "data.pt",
        "program-2.py",
        "program.py",
    ]
    assert save_graphs(lambda x: fourfold(x), X, Path("failing"), {}).imports == ("failing/test_graphs.py",)
    assert save_graphs(lambda x: x / (1 // 0), X, Path("failing"), {}).refused[0].startswith("ZeroDivisionError")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, work: Path, fake_program: Path) -> Callable[[str], list[str]]:
    """Decides what the program reduces; returns the names of the models that it was asked to reduce."""
    log = work / "asked"

    def ask(reduces: str) -> list[str]:
        monkeypatch.setenv("FAKE_REDUCES", reduces)
        lines = log.read_text().splitlines() if log.exists() else []
        models = [word for line in lines for word in json.loads(line) if word.startswith("--model=")]
        return [Path(word.removeprefix("--model=")).name for word in models]

    monkeypatch.setenv("FAKE_LOG", str(log))
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", str(fake_program))
    monkeypatch.setattr("repro_minify.original.problem_of", lambda *_: "value 1 is another")
    return ask


def test_the_graph_is_reduced_where_the_model_fails(asked: Any) -> None:
    asked("graphs")
    assert repro_minify.minify(mirrored, X, quiet=True).program == "the reduced program"
    assert asked("graphs") == ["program.py"]
    assert (Path("mirrored.failing") / "data.pt").is_file()


def test_each_graph_is_asked_and_then_the_trace_in_both_ways(asked: Any) -> None:
    asked("same")
    with pytest.raises(repro_minify.DoesNotFail, match="but the model itself fails"):
        repro_minify.minify(broken, X, quiet=True)
    # The trace is asked how it fails before it is reduced.
    assert asked("same") == ["program.py", "program-2.py", "failing.pt", "failing.pt", "failing.pt"]
    assert not Path("broken.failing").exists()


def test_a_model_without_a_trace_is_reduced_as_a_graph(asked: Any) -> None:
    asked("graphs")
    assert repro_minify.minify(doubled, X, grad=True, quiet=True).program == "the reduced program"
    assert asked("graphs") == ["program.py"]


def test_what_dynamo_captured_wrongly_is_left_to_read(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked("graphs")
    monkeypatch.setattr("repro_minify.graphs.difference", lambda *_: "value 1 is another")
    with pytest.raises(repro_minify.DoesNotFail, match="^Dynamo captured it wrongly: .*module: dynamo") as raised:
        repro_minify.minify(mirrored, X, quiet=True)
    assert raised.value.original == Original("value 1 is another", ())
    assert raised.value.graphs == (Path("mirrored.failing/program.py"),) and raised.value.graphs[0].is_file()
    assert asked("graphs") == []


def test_the_trace_is_reduced_where_the_model_does_not_fail(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repro_minify.original.problem_of", lambda *_: "")
    asked("everything")
    assert repro_minify.minify(mirrored, X, quiet=True).program == "the reduced program"
    assert asked("everything") == ["failing.pt"]


def test_a_finer_rule_is_asked_of_the_graphs_too(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repro_minify.original.problem_of", lambda *_: "")
    asked("graphs")
    assert repro_minify.minify(mirrored, X, compare="exact", quiet=True).program == "the reduced program"
    assert asked("graphs") == ["program.py"]


def test_gradients_of_a_mean_are_asked_as_those_of_a_sum(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they are what is wrong then: the same tolerance is too fine for the results."""
    asked_of = (mirrored, X, "inductor", Path("f"), cast(MinifyOptions, {"grad": True}))
    for kind, reductions in (("accuracy", 1), ("gradient", 2)):
        answers = iter([SimpleNamespace(sum_tolerance=1e-6), SimpleNamespace(kind=kind)])
        for place in (minifying, checking):
            monkeypatch.setattr(place, "verdict_of", lambda *_, answers=answers: next(answers))
        Path("asked").write_text("")
        asked("same")
        assert minifying.reduce_graphs(asked_of, Original("value 1 is another", ()), True) == (None, [])
        assert asked("same") == ["program.py"] * reductions


def test_graphs_of_a_model_of_which_nothing_is_known_are_not_asked(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsure(*_: Any) -> str:
        raise repro_minify.ReproMinifyError("two eager runs differ")

    monkeypatch.setattr("repro_minify.original.problem_of", unsure)
    asked("everything")
    assert repro_minify.minify(mirrored, X, compare="exact", quiet=True).program == "the reduced program"
    assert asked("everything") == ["failing.pt"]
