"""torch.compile(model, backend="repro_minify"): which graphs are checked, what becomes of them, and a real failure."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from repro_minify import BadInput, Verdict, dynamo


class ThreeGraphs(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.linear(x)
        torch._dynamo.graph_break()
        x = torch.relu(x)
        torch._dynamo.graph_break()
        return x + 1


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    dynamo.reset()
    torch._dynamo.reset()
    yield
    dynamo.reset()  # nothing to say when the tests end


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, work: Path, fake_program: Path) -> Callable[..., list[list[str]]]:
    """Decides what fails, and says what the program was asked; Inductor is not needed to know what is asked of it."""
    log = work / "asked"

    def ask(fails: str = "", reduces: str = "yes") -> list[list[str]]:
        monkeypatch.setenv("FAKE_FAILS", fails)
        monkeypatch.setenv("FAKE_REDUCES", reduces)
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    monkeypatch.setenv("FAKE_LOG", str(log))
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", str(fake_program))
    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", lambda graph, examples, config_patches: graph)
    return ask


X = torch.linspace(-1, 1, 8).reshape(2, 4)


def compiled(model: Any, **options: Any) -> Any:
    return torch.compile(model, backend=dynamo.backend, options=options or None)


def test_it_is_found_by_its_name() -> None:
    assert "repro_minify" in torch._dynamo.list_backends(exclude_tags=())


def test_each_graph_is_checked_once(world: Any) -> None:
    world()
    model = ThreeGraphs()
    run = compiled(model)
    with torch.no_grad():
        assert torch.equal(run(X), model(X)) and torch.equal(run(X), model(X))
    asked = world()
    assert [words[0] for words in asked] == ["run"] * 3 and all("--backend=inductor" in words for words in asked)
    assert not any("--grad" in words for words in asked)
    report = dynamo.report()
    assert (report.graphs, report.same, report.unchecked, report.failed) == (3, 3, 0, None)
    assert str(report).startswith("3 graphs: 3 same, 0 not checked, ")


def test_gradients_are_compared_where_there_are_some(world: Any) -> None:
    world()
    compiled(ThreeGraphs())(X).sum().backward()
    assert [("--grad" in words) for words in world()] == [True, True, True]
    compiled(lambda x: torch.sin(x))(X)
    assert "--grad" not in world()[-1]


def test_autocast_is_the_program_s(world: Any) -> None:
    world()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        compiled(lambda x: x @ x.T)(X)
    assert {"--autocast", "--autocast-dtype=bfloat16"} <= set(world()[0])


def test_shapes_that_are_symbols(world: Any) -> None:
    world()
    run = torch.compile(lambda x: x * x.shape[0], backend=dynamo.backend, dynamic=True)
    for rows in (3, 5):
        x = torch.ones(rows, 2)
        assert torch.equal(run(x), x * rows)
    assert dynamo.report().graphs == 1 and len(world()) == 1


def test_the_first_that_fails_is_kept_and_the_program_goes_on(
    world: Any, work: Path, caplog: pytest.LogCaptureFixture
) -> None:
    world(fails="2")
    model = ThreeGraphs()
    with torch.no_grad():
        assert torch.equal(compiled(model, minify="now")(X), model(X))
    assert [words[0] for words in world()][:2] == ["run", "run"] and len(world()) == 3
    report = dynamo.report()
    assert (report.graphs, report.same, report.failed) == (3, 1, 2)
    assert report.model == Path("graph-2/program.py") and report.model.is_file()
    assert report.result and report.result.program == "the reduced program"
    assert "graph 2 (of 2 so far) fails under Inductor: fail under inductor: crash" in caplog.text
    assert "graph 2 is minified in graph-2/program.repro/repro.py" in caplog.text
    dynamo.at_end_of(os.getpid())
    assert "graph 2 of 3 fails: graph-2/program.repro/repro.py" in caplog.text


def test_it_is_minified_when_python_ends(world: Any, work: Path, caplog: pytest.LogCaptureFixture) -> None:
    world(fails="1")
    model = ThreeGraphs()
    assert torch.equal(compiled(model)(X), model(X))
    assert [words[0] for words in world()] == ["run"] and dynamo.report().result is None
    assert "graph 1 is in graph-1/program.py; it is minified when Python ends" in caplog.text
    dynamo.at_end_of(os.getpid() + 1)  # a forked child
    assert len(world()) == 1
    dynamo.at_end_of(os.getpid())
    assert f"graph 1 is minified in {work}/graph-1/program.repro/repro.py" in caplog.text
    assert len(world()) == 2 and dynamo.report().result
    dynamo.at_end_of(os.getpid())
    assert len(world()) == 2


def test_it_need_not_be_minified(world: Any, caplog: pytest.LogCaptureFixture) -> None:
    world(fails="1")
    compiled(ThreeGraphs(), minify=False, tol=0.1)(X)
    dynamo.at_end_of(os.getpid())
    assert [words[0] for words in world()] == ["run"]
    assert "this minifies it: repro-minify graph-1/program.py --backend=inductor --grad --no-autocast --tol=0.1" in (
        caplog.text
    )


def test_a_word_for_when_that_is_none_is_refused(world: Any) -> None:
    world()
    with pytest.raises(Exception, match='minify=\'later\': give "exit", "now" or False'):
        compiled(ThreeGraphs(), minify="later")(X)


def test_a_failure_may_raise(world: Any) -> None:
    world(fails="1")
    with pytest.raises(
        dynamo.GraphFails, match=r"graph 1 \(of 1 so far\) fails under Inductor(.|\n)*the reduced program"
    ):
        compiled(ThreeGraphs(), on_failure="raise")(X)


def test_an_option_that_is_none_is_refused(world: Any) -> None:
    with pytest.raises(Exception, match="only_fw: no option of repro-minify"):
        torch.compile(lambda x: x + 1, backend="repro_minify", options={"only_fw": True})(torch.ones(2))


def test_a_word_for_what_a_failure_does_that_is_none_is_refused(world: Any) -> None:
    world()
    with pytest.raises(Exception, match="on_failure='error'"):
        compiled(ThreeGraphs(), on_failure="error")(X)


def test_what_is_checked_is_compiled_with_the_same_entries(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._inductor.compile_fx

    given: list[Any] = []

    def noted(graph: Any, examples: Any, config_patches: Any = None) -> Any:
        given.append(config_patches)
        return graph

    monkeypatch.setattr(torch._inductor.compile_fx, "compile_fx", noted)
    world()
    compiled(ThreeGraphs(), inductor_config={"cpp.simdlen": 1})(X)
    assert given and all(each == {"cpp.simdlen": 1} for each in given)


def test_what_cannot_be_minified_is_kept(world: Any, caplog: pytest.LogCaptureFixture) -> None:
    world(fails="1", reduces="no")
    compiled(ThreeGraphs(), minify="now")(X)
    assert "graph-1/program.py, which was not minified: it cannot be reduced" in caplog.text


def test_nothing_is_overwritten(world: Any, work: Path) -> None:
    (work / "graph-1").mkdir()
    world(fails="1")
    compiled(ThreeGraphs())(X)
    assert dynamo.report().model == Path("graph-1-2/program.py")


def test_whole_numbers_that_differ_fail(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The rule of PyTorch's own minifier gives them a tolerance: the program is asked again, without one."""
    asked = []

    def check(program: Path, inputs: None, backend: str, **options: Any) -> Verdict:
        asked.append(options.get("compare"))
        return Verdict("fail" if asked[-1] else "pass", "accuracy", "", "", backend, {}, asked[-1] is None)

    world()
    monkeypatch.setattr("repro_minify.checking.check", check)
    compiled(torch.sin, minify=False)(X)
    assert asked == [None, "close"] and "--compare=close" in caplog.text
    torch._dynamo.reset()
    dynamo.reset()
    compiled(torch.sin, compare="default")(X)
    assert asked[2:] == ["default"]


def test_what_cannot_be_written_is_said(world: Any, caplog: pytest.LogCaptureFixture) -> None:
    @torch._dynamo.allow_in_graph
    def local(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    world()
    assert torch.equal(compiled(lambda x: local(x))(X), X + 1)
    assert "graph 1 is not checked: it calls " in caplog.text and "which cannot be imported by a name" in caplog.text


def test_a_sentence_names_no_file_that_is_gone(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses(program: Path, *_: Any, **__: Any) -> Any:
        raise BadInput(f"{program}: cannot be converted")

    world()
    monkeypatch.setattr("repro_minify.checking.check", refuses)
    compiled(torch.sin)(X)
    assert "graph 1 is not checked: cannot be converted" in caplog.text


def test_what_cannot_be_checked_is_said(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", "/nowhere")
    model = ThreeGraphs()
    assert torch.equal(compiled(model)(X), model(X))
    assert "graph 1 is not checked: REPRO_MINIFY_PROGRAM=/nowhere: no program" in caplog.text
    assert dynamo.report().unchecked == 3


class Round(torch.autograd.Function):
    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.round()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0]


def gradient(x: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(lambda t: (Round.apply(t) * t).sum())(x)


def tangent(x: torch.Tensor) -> torch.Tensor:
    return torch.func.jvp(lambda t: torch.func.vmap(torch.sin)(t), (x,), (x,))[1]


def state() -> list[Any]:
    """Returns the state of the user's thread and process that a check has to leave as it is."""
    return [
        torch.random.get_rng_state().tolist(),
        random.getstate(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch._C._functorch.peek_interpreter_stack(),
        torch._C._functorch.maybe_current_level(),
        torch.autograd.forward_ad._current_level,
        torch._C._len_torch_dispatch_stack(),
        torch._C._autograd._saved_tensors_hooks_is_enabled(),
    ]


@pytest.mark.parametrize("apart", ["child", "thread"])
@pytest.mark.parametrize("call", [gradient, tangent])
def test_whatever_a_trace_leaves_half_done_is_not_seen(
    call: Any, apart: str, world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A trace that raises does not leave the levels of functorch; the user's thread has to be in none of them."""
    world()
    if apart == "thread":
        monkeypatch.setattr("os.fork", lambda: (_ for _ in ()).throw(OSError()))
    expected = torch.compile(call, backend="eager")(X)  # Dynamo loses the backward of a Function under torch.func.grad
    torch._dynamo.reset()
    run = compiled(call)
    kept = state()
    assert torch.equal(run(X), expected)
    assert state() == kept
    report = dynamo.report()
    assert report.graphs == 1 == report.same + report.unchecked


def test_a_trace_that_crashes_leaves_the_program_alone(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world()
    monkeypatch.setattr("repro_minify.dynamo.save_graph", lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
    assert torch.equal(compiled(torch.sin)(X), torch.sin(X))
    assert "graph 1 is not checked: its process ended with signal 11" in caplog.text


@pytest.mark.parametrize("place", ["repro_minify.checking.check", "repro_minify.dynamo.surroundings"])
def test_no_exception_of_a_check_reaches_the_program(
    place: str, world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world()

    def raises(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("of a check")

    monkeypatch.setattr(place, raises)
    assert torch.equal(compiled(torch.sin)(X), torch.sin(X))
    assert "graph 1 is not checked: ZeroDivisionError: of a check" in caplog.text
    assert dynamo.report().unchecked == 1


def test_a_failure_that_cannot_be_kept_does_not_end_the_program(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world(fails="1")
    assert torch.equal(compiled(torch.sin, output="/dev/null/here")(X), torch.sin(X))
    assert "graph 1: it cannot be kept: " in caplog.text


def test_inference_mode_is_as_dynamo_has_it_for_inductor(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world()
    modes = []

    def compile_fx(graph: Any, examples: Any, config_patches: Any) -> Any:
        modes.append(torch.is_inference_mode_enabled())
        torch.rand(1)
        return graph

    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", compile_fx)
    kept = state()
    with torch.inference_mode():
        assert compiled(torch.sin)(X).is_inference()
    assert modes == [False] and state() == kept


USER = """
import sys, repro_minify
print("without torch", "torch" not in sys.modules)
print("so far", repro_minify.dynamo.report().graphs)
import logging, torch
logging.basicConfig(level=logging.INFO, format="%(message)s")
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
    def forward(self, x, y):
        x = self.linear(x).sum()
        torch._dynamo.graph_break()
        torch._foreach_mul_([y], [y.flip(0)])
        return x + y
model, x, y = Model(), torch.ones(2, 3), torch.tensor([2.0, 3.0])
QUICK = {"ablation": False, "no_bisect": True, "passes": "cut"}
result = torch.compile(model, backend="repro_minify", options=QUICK)(x, y.clone())
result[0].backward()
print("right", torch.allclose(result, model(x, y.clone())))  # graph 1 is Inductor's, which rounds in its own way
"""


@pytest.mark.skipif("REPRO_MINIFY_ALL_TESTS" not in os.environ, reason="it takes minutes: scripts/test.sh --all")
def test_a_real_failure_of_inductor(work: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The whole way: one graph that is right, with gradients, and one that Inductor gets wrong, by a call that a trace
    would not keep. A plain import, which brings no torch along, is enough to ask for the report."""
    (work / "user.py").write_text(USER)
    ended = subprocess.run([sys.executable, "user.py"], capture_output=True, text=True)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0 and "right True" in ended.stdout, said
    assert ended.stdout.startswith("without torch True\nso far 0\n"), said
    assert "graph 1: same under Inductor" in said
    assert "graph 2 of 2 fails: " in said.splitlines()[-1] and "graph-2/program.repro/" in said.splitlines()[-1]
    folder = work / "graph-2/program.repro"
    report = json.loads((folder / "report.json").read_text())
    assert report["explanation"]["kind"] == "sees itself" and "_foreach_mul_" in report["explanation"]["call"]
    assert report["verified"] is True and report["after"]["operators"] == 2
    assert "torch._foreach_mul_([y], [y.flip(0)])\n    return" in (folder / "repro.py").read_text()
    assert "shows from Python only: gradients are computed with it" in (folder / "repro.cpp").read_text()
