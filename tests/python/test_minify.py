"""minify() and check(), end to end with the real program under a backend that needs no Python."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import repro_minify
import torch
from models import INPUT
from repro_minify import BadInput, DoesNotFail, Result
from repro_minify.minifying import free_folder
from repro_minify.result import result_in
from repro_minify.verdict import Verdict


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    from models import FrozenWrong

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("minify") / "wrong.repro"
    return repro_minify.minify(
        FrozenWrong().eval(), INPUT, "freeze", output=folder, no_verify=True, quiet=True, jobs=2, seed=3
    )


def test_a_module_is_reduced(result: Result) -> None:
    assert "torch.batch_norm" in result.program and "relu" not in result.program
    assert result.verdict.failed and result.verdict.kind == "accuracy" and result.verdict.backend == "freeze"
    assert result.guilty_step == "FoldFrozenLinearBatchnorm" and result.guilty_step in result.issue
    assert result.verified is None and result.repro.is_file()
    assert sorted(path.name for path in result.folder.parent.iterdir()) == ["wrong.failing", "wrong.repro"]


def test_all_failures_are_reduced(work: Path) -> None:
    """The same fold is wrong in two places, which is one bug; a module that is right has none."""
    from models import FrozenWrong

    torch.manual_seed(0)
    twice = torch.nn.Sequential(FrozenWrong(), torch.nn.Linear(2, 3), FrozenWrong()).eval()
    (failure,) = repro_minify.minify_all(twice, INPUT, "freeze", output="twice.repro", no_verify=True, quiet=True)
    assert failure.folder == Path("twice.repro/1") and failure.guilty_step == "FoldFrozenLinearBatchnorm"
    assert json.loads(Path("twice.repro/failures.json").read_text())["failures"][0]["places"] == 2
    with pytest.raises(DoesNotFail):
        repro_minify.minify_all(torch.nn.Linear(3, 2), INPUT, "freeze", quiet=True)


def test_the_folder_can_be_read_again(result: Result) -> None:
    again = result_in(result.folder)
    assert again.program == result.program and str(again) == str(result)


def test_a_notebook_shows_a_table_and_a_picture(result: Result) -> None:
    html = result._repr_html_()
    assert "<td>FoldFrozenLinearBatchnorm</td>" in html and "torch.batch_norm" in html
    assert result.picture.lstrip().startswith(b"<?xml") and b"batch_norm" in result.picture
    assert re.search(r'<img alt="[^"]+" src="data:image/svg\+xml;base64,[A-Za-z0-9+/=]{500,}">', html)


def test_without_a_picture_the_rest_is_shown(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    again = result_in(result.folder)
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", "/nowhere")
    html = again._repr_html_()
    assert "<img" not in html and "torch.batch_norm" in html


def test_text_of_a_model_is_escaped(result: Result) -> None:
    hostile = "</pre><script>alert(1)</script>"
    report: dict[str, Any] = {**result.report, "program": {**result.report["program"], "source": hostile}}
    report["verdict"] = {**report["verdict"], "message": hostile, "kind": hostile}
    shown = (
        Result(result.folder, report)._repr_html_() + Verdict("fail", hostile, "", hostile, hostile, {})._repr_html_()
    )
    assert "<script>" not in shown and "&lt;script&gt;" in shown


def test_a_run_that_cannot_go_on_by_itself_says_what_it_needs(wrong: torch.nn.Module, work: Path) -> None:
    with pytest.raises(repro_minify.BadInput, match="give output"):
        repro_minify.minify(wrong, torch.rand(2, 3, 4), "freeze", resume=True)
    with pytest.raises(repro_minify.BadInput, match="a folder with a name"):
        repro_minify.minify(wrong, torch.rand(2, 3, 4), "freeze", output=".")


def test_nothing_is_overwritten(wrong: torch.nn.Module, work: Path) -> None:
    (work / "out.failing").mkdir()
    with pytest.raises(BadInput, match="out.failing: exists; give another output, or force=True"):
        repro_minify.minify(wrong, INPUT, "freeze", output="out")
    (work / "Net.repro").mkdir()
    (work / "Net-2.failing").mkdir()
    assert free_folder(Path("Net")) == Path("Net-3.repro")


def test_what_does_not_fail_leaves_nothing(work: Path) -> None:
    said = r"^Linear: does not fail under freeze \(called 3 times, each time the same as eager\)"
    with pytest.raises(DoesNotFail, match=said):
        repro_minify.minify(torch.nn.Linear(3, 2), INPUT, "freeze", quiet=True)
    assert list(work.iterdir()) == []


def mixed(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.matmul(x, y)


def test_a_sentence_names_no_file_that_is_gone(work: Path) -> None:
    with pytest.raises(BadInput, match="^mixed: cannot be checked: eager itself raises") as raised:
        repro_minify.minify(mixed, (torch.ones(2, 2).half(), torch.ones(2, 2)), "freeze", quiet=True)
    assert "failing" not in str(raised.value) and list(work.iterdir()) == []
    (work / "Linear.failing").mkdir()
    with pytest.raises(DoesNotFail, match=r"Linear.failing/failing.pt: does not fail under freeze"):
        repro_minify.minify(torch.nn.Linear(3, 2), INPUT, "freeze", output="Linear.repro", force=True, quiet=True)
    assert (work / "Linear.failing/failing.pt").is_file()


def test_a_path_is_given_as_it_is(wrong: torch.nn.Module, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.jit.save(torch.jit.script(wrong), "model.pt")
    torch.save((INPUT,), "some.pt")
    reduced = repro_minify.minify("model.pt", "some.pt", "freeze", no_verify=True, no_bisect=True)
    assert reduced.folder == Path("model.repro") and not Path("model.failing").exists()
    assert "operators" in capsys.readouterr().err
    assert repro_minify.check(Path("model.pt"), INPUT, "freeze").failed


def test_options_reach_the_program(wrong: torch.nn.Module) -> None:
    verdict = repro_minify.check(wrong, INPUT, "freeze", calls=1, seed=7, compare="close", tol=1000.0)
    assert verdict.outcome == "pass" and verdict.details["settings"]["seed"] == 7
    assert "freeze" in str(verdict) and verdict.rows()[0]["name"] == "output"
    assert "<td>output</td>" in verdict._repr_html_()


def test_a_failing_verdict(wrong: torch.nn.Module, work: Path) -> None:
    verdict = repro_minify.check(wrong, {"x": INPUT}, "freeze")
    assert verdict.failed and verdict.kind == "accuracy" and "RMSE" in verdict.message
    assert list(work.iterdir()) == []


def test_sentences_of_the_program_are_exceptions(wrong: torch.nn.Module) -> None:
    with pytest.raises(BadInput, match="--backend nonsense: unknown backend; known are eager"):
        repro_minify.check(wrong, INPUT, "nonsense")
    with pytest.raises(BadInput, match="some.pt: a file of inputs goes with the path of a model"):
        repro_minify.check(wrong, "some.pt", "freeze")
    with pytest.raises(BadInput, match="--nonsense"):
        repro_minify.check(wrong, INPUT, "freeze", nonsense=True)  # type: ignore[call-arg]
    with pytest.raises(BadInput, match="nowhere.pt: no such file"):
        repro_minify.minify("nowhere.pt", backend="freeze", quiet=True)


def test_a_program_for_torch_compile_is_that_of_repro_py(tmp_path: Path) -> None:
    script = "import torch\n\n\ndef f(x):\n    return x.sin()\n\n\nx = torch.ones(1)\nprint(f(x))\n"
    (tmp_path / "repro.py").write_text(script)
    report = {"program": {"source": "def f(sin_1):\n    return sin_1.sin()\n"}, "files": ["reduced.pt", "repro.py"]}
    assert Result(tmp_path, report).program == "def f(x):\n    return x.sin()"
    assert Result(tmp_path, {**report, "files": []}).program.startswith("def f(sin_1)")
    torchscript = {**report, "program": {"source": "def forward(self,\n    x: Tensor) -> Tensor:\n"}}
    assert Result(tmp_path, torchscript).program.startswith("def forward(self")
