"""The program on a machine in trouble: what is asked of it, how it ended, and what is left of it."""

import json
import os
import signal
import subprocess
import sys
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

# Processes left running are looked at until they have ended: a moment, or as long as a header takes to be precompiled.
# These are the longest that a test waits, however busy the machine is.
SECONDS_TO_END = 60
SECONDS_TO_PRECOMPILE = 600
SECONDS_BETWEEN_LOOKS = 0.05
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
    forks: int = 0
    forks_after_signal: int = 0
    failed_calls: int = 0  # as the trouble asked
    processes: list[str] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.folder / "out" / "report.json").read_text())
        return report


def processes_with(mark: str) -> list[str]:
    """Returns the command lines of the processes that have this mark in their environment and still run."""
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


def left_after(mark: str, seconds: float) -> list[str]:
    """The processes that do not end."""
    left: list[str] = []
    for _ in range(int(seconds / SECONDS_BETWEEN_LOOKS)):
        if not (left := processes_with(mark)):
            break
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return left


class Calls:
    """How often the program and its children have forked, or a call has failed: failing_calls.c counts it in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.write_bytes(bytes(4))

    def count(self) -> int:
        return int.from_bytes(self.file.read_bytes(), sys.byteorder)


@dataclass(frozen=True)
class Trouble:
    """A fault of the machine, as a row of the table."""

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
    stop: tuple[int, int] | None = None,
    seconds_to_end: float = SECONDS_TO_END,
) -> Run:
    """Starts it in a folder of its own; `stop`: a signal, and after how many forks, which are counted where the trouble
    preloads failing_calls.c. How long what it leaves running is given to end: `seconds_to_end`."""
    forks, failed = Calls(folder / "forks"), Calls(folder / "failed")
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
        "FORKS": str(forks.file),
        "FAILED": str(failed.file),
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
        before_signal: int | None = None
        try:
            if stop:
                before_signal = interrupt(process, forks, *stop)
            code = process.wait(300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    printed, said = ((folder / name).read_bytes().decode("utf-8", "replace") for name in ("stdout", "stderr"))
    after_signal = 0 if before_signal is None else forks.count() - before_signal
    left = left_after(mark, seconds_to_end)
    return Run(question, folder, code, printed, said, forks.count(), after_signal, failed.count(), left)


def interrupt(process: subprocess.Popen[bytes], forks: Calls, number: int, after: int) -> int | None:
    """Sends the signal once it has forked that often. Returns its number of forks by then, or None if it had ended.

    It is stopped meanwhile, so that the signal comes before all else: what it forks then is in spite of it.
    """
    while forks.count() < after and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGSTOP)
    while process.poll() is None and state_of(process.pid) != "T":
        time.sleep(0.002)
    before = forks.count()
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    return before if process.poll() is None else None


def state_of(process: int) -> str:
    """A letter: see proc(5). T: stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


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
