"""The program on a machine in trouble: what is asked of it, how it ended, and what is left of it."""

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("REPRO_MINIFY_PROGRAM", ROOT / "build" / "release" / "repro-minify"))
CASE = ROOT / "fixtures" / "cases" / "jit_type_as_dce"
MODEL = ROOT / "fixtures" / "small_models" / "conv_net"

# On an idle machine two seconds; this may be a busy one.
SECONDS_TO_END = 15
SECONDS_TO_PRECOMPILE = 240
PASSED, FAILED, UNUSABLE, NO_MACHINE, INTERRUPTED = 0, 1, 2, 70, 130


@dataclass(frozen=True)
class Question:
    """A command line whose answer is known."""

    name: str
    words: tuple[str, ...]
    right: int  # the exit code of a machine without trouble

    def command(self, folder: Path) -> list[str]:
        return [str(PROGRAM), *(word.replace("{out}", str(folder / "out")) for word in self.words)]


def model_words(model: Path) -> tuple[str, ...]:
    return (str(model), "--inputs", str(model.with_name("inputs.pt")), "--timeout", "60")


FAILING = Question("failing", ("run", *model_words(CASE / "failing.pt"), "--backend", "jit", "--json"), FAILED)
PASSING = Question("passing", ("run", *model_words(MODEL / "model.pt"), "--backend", "jit", "--json"), PASSED)
# Its backend writes, compiles and loads a library.
KERNELS = Question(
    "kernels", ("run", *model_words(CASE / "failing.pt"), "--backend", "inductor-like", "--json"), PASSED
)
REDUCTION = Question(
    "reduction",
    (*model_words(CASE / "failing.pt"), "--backend", "jit", "-o", "{out}", "--no-verify", "--no-bisect", "-q"),
    0,
)
VERIFIED = Question(
    "verified", (*model_words(CASE / "failing.pt"), "--backend", "jit", "-o", "{out}", "--no-bisect", "-q"), 0
)
QUESTIONS = [FAILING, PASSING, KERNELS, REDUCTION]


@dataclass
class Run:
    """How it ended. `folder` has `out` and the temporary folder that it was given."""

    question: Question
    folder: Path
    code: int
    out: str
    err: str
    seconds_after_signal: float = 0.0
    seconds_until_clear: float = 0.0  # from the same signal until nothing of it ran or lay in its temporary folder
    processes: list[str] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.folder / "out" / "report.json").read_text())
        return report


def processes_with(mark: str) -> list[str]:
    """What was started with this mark in its environment and still runs, as command lines."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or entry.name == str(os.getpid()):
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:  # it has ended, or is not ours
            continue
    return found


def left_after(mark: str, seconds: float) -> tuple[list[str], float]:
    """The processes, and how long it took until there were none."""
    begin = time.monotonic()
    while (left := processes_with(mark)) and time.monotonic() < begin + seconds:
        time.sleep(0.05)
    return left, time.monotonic() - begin


@dataclass(frozen=True)
class Trouble:
    """What is wrong with the machine, as a row of the table."""

    name: str
    environment: dict[str, str] = field(default_factory=dict, hash=False)
    before: Callable[[], None] | None = None  # in the process that becomes the program
    streams: dict[str, Any] = field(default_factory=dict, hash=False)  # of subprocess.Popen
    user: int | None = None
    keeps_files: bool = False  # what cannot be removed stays


def ask(
    question: Question,
    folder: Path,
    trouble: Trouble,
    stop: tuple[int, float] | None = None,
    seconds_to_end: float = SECONDS_TO_END,
) -> Run:
    """Starts it in a folder of its own; `stop`: a signal, and after how many seconds. How long what it leaves running
    is given to end: `seconds_to_end`."""
    mark = f"REPRO_MINIFY_TEST_MARK={uuid.uuid4()}"
    for name in ("tmp", "home"):
        (folder / name).mkdir(exist_ok=True)
        if trouble.user is not None:
            os.chown(folder / name, trouble.user, trouble.user)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
        "TMPDIR": str(folder / "tmp"),
        "HOME": str(folder / "home"),
        "REPRO_MINIFY_PRECOMPILED_HEADERS": "off",
        **dict([mark.split("=", 1)]),
        **trouble.environment,
    }
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        process = subprocess.Popen(
            question.command(folder),
            env=environment,
            preexec_fn=trouble.before,
            user=trouble.user,
            start_new_session=True,
            **{"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **trouble.streams},
        )
        seconds = 0.0
        try:
            if stop:
                seconds = interrupt(process, *stop)
            code = process.wait(300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    printed, said = ((folder / name).read_bytes().decode("utf-8", "replace") for name in ("stdout", "stderr"))
    left, more = left_after(mark, seconds_to_end)
    return Run(question, folder, code, printed, said, seconds, seconds + more, left)


def interrupt(process: subprocess.Popen[bytes], number: int, after: float) -> float:
    """How long it took to end then; 0 where it had ended before."""
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        begin = time.monotonic()
        process.send_signal(number)
        process.wait(SECONDS_TO_END * 4)
        return time.monotonic() - begin
    return 0.0


def verdict_of(run: Run) -> str:
    """Outcome and signature, without what differs from run to run."""
    verdict = json.loads(run.out)["verdict"]
    return " ".join(str(verdict.get(key)) for key in ("outcome", "kind", "where"))


def require_no_conclusion(run: Run, right: Run) -> None:
    """The right answer or none: trouble of the machine is never a verdict."""
    said = f"{run.question.name}: {run.code}, not {right.code}\n{run.out[-500:]}\n{run.err[-1500:]}"
    assert run.code in (right.code, UNUSABLE, NO_MACHINE), said
    if run.code == right.code and right.out.startswith("{"):
        assert verdict_of(run) == verdict_of(right), said
    if run.code == right.code and run.question in (REDUCTION, VERIFIED):
        before, after = right.report()["verdict"], run.report()["verdict"]
        assert [after[key] for key in ("kind", "where")] == [before[key] for key in ("kind", "where")], said
    for words in ("terminate called", "what():", "Traceback", "internal error"):
        assert words not in run.err, said
    if run.code in (UNUSABLE, NO_MACHINE):
        assert run.err.strip(), "nothing is said"


def require_nothing_left(run: Run, trouble: Trouble) -> None:
    assert run.processes == []
    if not trouble.keeps_files:
        assert [entry.name for entry in (run.folder / "tmp").iterdir()] == []
