"""In which versions of torch a bug shows: its repro.py, run by one interpreter after another."""

import ast
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from .build_facts import torch_of_python
from .errors import TriageError
from .identity import without_numbers

EAGER = "eager: "  # what a repro prints once the other side has had its turn


class Outcome(StrEnum):
    WRONG = "wrong"
    RIGHT = "right"
    NO_ANSWER = "no answer"


@dataclass(frozen=True)
class Answer:
    python: str
    torch: str
    outcome: Outcome
    message: str = ""


def run_repro(python: str, script: Path, timeout: float) -> Answer:
    """Runs a repro.py. It is WRONG only where it shows its own failure, as Python exits with 1 for any error."""
    torch = torch_of_python(python)
    if torch == "none":
        return Answer(python, torch, Outcome.NO_ANSWER, "there is no torch in it")
    with tempfile.TemporaryDirectory() as work:
        try:
            done = subprocess.run([python, str(script)], capture_output=True, text=True, errors="replace", cwd=work,
                                  stdin=subprocess.DEVNULL, timeout=timeout)  # fmt: skip
        except subprocess.TimeoutExpired:
            return Answer(python, torch, Outcome.NO_ANSWER, f"no end within {timeout:.0f} s")
    last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
    if shows(done, script.read_text(), verdict_beside(script)):
        return Answer(python, torch, Outcome.WRONG)
    if done.returncode == 0:
        return Answer(python, torch, Outcome.RIGHT)
    return Answer(python, torch, Outcome.NO_ANSWER, last[0] if last else f"exit code {done.returncode}")


def verdict_beside(script: Path) -> dict[str, Any]:
    report = script.with_name("report.json")
    verdict: dict[str, Any] = json.loads(report.read_text())["verdict"] if report.is_file() else {}
    return verdict


def shows(done: subprocess.CompletedProcess[str], script: str, verdict: dict[str, Any]) -> bool:
    """True if a repro shows its failure: it ends as it did when it was made, by an assertion or the exception in its
    last statement, or by a crash, and not before eager has answered."""
    if verdict.get("kind") == "crash":
        return done.returncode < 0 and any(line.startswith(EAGER) for line in done.stdout.splitlines())
    frames = re.findall(r'repro\.py", line (\d+), in <module>$', done.stderr, re.MULTILINE)
    last = ast.parse(script).body[-1]
    if done.returncode != 1 or not frames or int(frames[-1]) < last.lineno:
        return False
    if verdict.get("kind") == "exception":
        said = as_compared(verdict["message"])
        return said in as_compared(done.stderr) or without_type(said) in as_compared(done.stderr)
    return re.search(r"^AssertionError\b", done.stderr, re.MULTILINE) is not None


def without_type(message: str) -> str:
    """Returns a message of twelve characters or more without the exception's type, which Dynamo puts elsewhere:
    "... got IndexError('tuple index out of range')"."""
    words = re.sub(r"^[\w.]+: ", "", message)
    return words if len(words) >= 12 else message


def as_compared(message: str) -> str:
    """Returns a message without numbers, with one of PyTorch's two words for the type of a tensor: torch.FloatTensor
    with Python, CPUFloatType without."""
    return " ".join(without_numbers(re.sub(r"\btorch\.(\w+)Tensor\b", r"CPU\1Type", message)).split())


def halve(pythons: Sequence[str], ask: Callable[[str], Answer]) -> list[Answer]:
    """Finds by bisection where interpreters, oldest version first, change from one outcome to the other. Returns the
    answers it took. A version without an answer is passed over. If both ends agree all are asked."""
    known: dict[int, Answer] = {}

    def answer(index: int) -> Answer:
        if index not in known:
            known[index] = ask(pythons[index])
        return known[index]

    first, last = 0, len(pythons) - 1
    while first < last and answer(first).outcome is Outcome.NO_ANSWER:
        first += 1
    while last > first and answer(last).outcome is Outcome.NO_ANSWER:
        last -= 1
    if answer(first).outcome is answer(last).outcome:
        for index in range(len(pythons)):
            answer(index)
        return [known[index] for index in sorted(known)]
    while open_ones := [
        i for i in range(first + 1, last) if i not in known or known[i].outcome is not Outcome.NO_ANSWER
    ]:
        middle = open_ones[len(open_ones) // 2]
        outcome = answer(middle).outcome
        if outcome is answer(first).outcome:
            first = middle
        elif outcome is answer(last).outcome:
            last = middle
    return [known[index] for index in sorted(known)]


def sentence(answers: Sequence[Answer]) -> str:
    """ "right in 2.13.0, wrong in 2.14.1", in the order of the interpreters."""
    told = [f"{answer.outcome} in {answer.torch}" for answer in answers if answer.outcome is not Outcome.NO_ANSWER]
    return ", ".join(told) or "no version gave an answer"


def versions(folder: Path, pythons: list[str]) -> list[Answer]:
    script = folder / "repro.py"
    if not script.is_file():
        raise TriageError(f"{folder}: holds no repro.py; --verify keeps one, for backends that Python reaches")
    found = [interpreter(python) for python in pythons]
    return halve(found, lambda python: run_repro(python, script.resolve(), timeout=600))


def interpreter(python: str) -> str:
    """Returns the absolute path, as a repro runs in a folder of its own. Links are kept: a virtual environment's Python
    is a link to one outside it."""
    found = shutil.which(python)
    if not found:
        raise TriageError(f"--python {python}: no such program; name interpreters with torch, oldest first")
    return os.path.abspath(found)
