"""The lines of Python on the README's first screen: they run, and say what is so. scripts/try_wheel.sh reduces them."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

README = Path(__file__).parents[2] / "README.md"


def first_lines() -> str:
    found = re.search(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    assert found
    return found.group(1)


def test_the_first_lines_run(
    fake_program: Path, work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All but the reduction: the fake program stands for it."""
    monkeypatch.setenv("FAKE_LOG", str(work / "asked"))
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", str(fake_program))
    monkeypatch.setattr("repro_minify.original.problem_of", lambda *_: "value 1 is another")
    space: dict[str, Any] = {"__name__": "readme"}
    exec(first_lines(), space)
    assert capsys.readouterr().out == "the reduced program model.failing/program.repro\n"
    assert "torch.round(" in (work / "model.failing/program.py").read_text()


def test_the_model_is_wrong_for_the_reason_that_is_given() -> None:
    """A decomposition of torch.compile, which needs no compiler to show."""
    lines = re.sub(r"^(result|print).*\n", "", first_lines(), flags=re.MULTILINE)
    space: dict[str, Any] = {}
    exec(lines, space)
    x = torch.full((4, 8), 11312.5)
    assert str(tuple(x.shape)) in first_lines() and "11312.5" in first_lines()
    torch._dynamo.reset()
    found = torch.compile(space["model"], backend="aot_eager_decomp_partition")(x)
    assert space["model"](x)[1].tolist() == [90000.0] * 4 and found[1].tolist() == [91000.0] * 4
