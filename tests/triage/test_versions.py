"""Which versions are right, and how few have to be asked."""

import json
import sys
from pathlib import Path

import pytest
from repro_minify_triage import versions
from repro_minify_triage.errors import TriageError
from repro_minify_triage.versions import Answer, Outcome, halve, run_repro, sentence

LETTERS = {"w": Outcome.WRONG, "r": Outcome.RIGHT, "?": Outcome.NO_ANSWER}


def asked(pattern: str) -> tuple[list[int], list[Answer]]:
    order: list[int] = []

    def ask(python: str) -> Answer:
        order.append(int(python))
        return Answer(python, f"2.{python}", LETTERS[pattern[int(python)]])

    return order, halve([str(index) for index in range(len(pattern))], ask)


def test_two_versions_are_both_asked() -> None:
    assert sentence(asked("rw")[1]) == "right in 2.0, wrong in 2.1"
    assert sentence(asked("ww")[1]) == "wrong in 2.0, wrong in 2.1"


@pytest.mark.parametrize("change", range(1, 16))
def test_a_longer_list_is_halved(change: int) -> None:
    order, answers = asked("r" * change + "w" * (16 - change))
    assert len(order) <= 6
    met = [(one.outcome, int(one.python), int(other.python)) for one, other in zip(answers, answers[1:])
           if one.outcome is not other.outcome]  # fmt: skip
    assert met == [(Outcome.RIGHT, change - 1, change)]


def test_one_that_gives_no_answer_is_passed_over() -> None:
    assert sentence(asked("?r??w?")[1]) == "right in 2.1, wrong in 2.4"
    assert sentence(asked("???")[1]) == "no version gave an answer"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("raise SystemExit(1)", "accuracy", Outcome.NO_ANSWER),  # Python's own exit code for any error
        ("import no_such_module\nassert True", "accuracy", Outcome.NO_ANSWER),
        ("print('right')", "accuracy", Outcome.RIGHT),
        ("raise SystemExit(2)", "accuracy", Outcome.NO_ANSWER),
        ("x = 1\nassert x == 2, 'expected 1, found 2'", "accuracy", Outcome.WRONG),
        ("assert 1 == 2\nx = 1", "accuracy", Outcome.NO_ANSWER),  # before its last statement
        ("print('eager: 1')\nraise RuntimeError('size 7 is odd')", "exception", Outcome.WRONG),
        ("print('eager: 1')\nraise ValueError('got RuntimeError(size 7 is odd)')", "exception", Outcome.WRONG),
        ("raise RuntimeError('size 7 is odd')\nprint('eager: 1')", "exception", Outcome.NO_ANSWER),  # eager's
        ("print('eager: 1')\nraise RuntimeError('no such thing')", "exception", Outcome.NO_ANSWER),
        ("import os\nprint('eager: 1', flush=True)\nos.abort()", "crash", Outcome.WRONG),
        ("import os\nos.abort()", "crash", Outcome.NO_ANSWER),
    ],
)
def test_only_a_repro_itself_can_say_wrong(
    text: str, kind: str, expected: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "torch_of_python", lambda python: "2.13.0")
    (tmp_path / "repro.py").write_text(text)
    verdict = {"kind": kind, "message": "RuntimeError: size 3 is odd"}
    (tmp_path / "report.json").write_text(json.dumps({"verdict": verdict}))
    assert run_repro(sys.executable, tmp_path / "repro.py", 60).outcome is expected


def test_no_repro_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TriageError, match=r"no repro\.py"):
        versions.versions(tmp_path, ["python3"])


def test_paths_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is by default, and a repro runs elsewhere."""
    (tmp_path / "repro.py").write_text("print('right')")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(versions, "torch_of_python", lambda python: "2.13.0")
    monkeypatch.chdir(tmp_path)
    assert [answer.outcome for answer in versions.versions(Path(), ["./python"])] == [Outcome.RIGHT]


def test_no_interpreter_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("print('right')")
    with pytest.raises(TriageError, match="--python /no/such: no such program"):
        versions.versions(tmp_path, [sys.executable, "/no/such"])
