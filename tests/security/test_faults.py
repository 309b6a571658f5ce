"""A table of faults with what has to hold: the best so far and a report, or no answer; never a conclusion.

pytest tests/security/test_faults.py            a part of it, as CI runs it
pytest tests/security/test_faults.py --full     all of it
"""

import json
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from troubled import (
    FAILING,
    INTERRUPTED,
    KERNELS,
    NO_MACHINE,
    PASSING,
    QUESTIONS,
    REDUCTION,
    SECONDS_TO_END,
    SECONDS_TO_PRECOMPILE,
    VERIFIED,
    Question,
    Run,
    Trouble,
    ask,
    require_no_conclusion,
    require_nothing_left,
)

NOBODY = 65534


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The rows of a test's table, some or all."""
    table = TABLES.get(metafunc.function.__name__)
    if table:
        rows = table(metafunc.config.getoption("--full"))
        metafunc.parametrize(("question", "row"), rows, ids=[f"{asked.name}-{row}" for asked, row in rows])


class Answers:
    """Holds each question's answer without trouble."""

    def __init__(self, folder: Path, failing_calls: Path) -> None:
        self.folder = folder
        self.failing_calls = failing_calls
        self.known: dict[str, Run] = {}
        self.headers = {"XDG_CACHE_HOME": str(folder / "cache"), "REPRO_MINIFY_PRECOMPILED_HEADERS": "on"}

    def environment(self, question: Question) -> dict[str, str]:
        """Verifying is compiling for a minute, or for seconds with headers that an earlier run has precompiled."""
        counting = {"LD_PRELOAD": str(self.failing_calls)}
        if question is not VERIFIED:
            return counting
        if not Path(self.headers["XDG_CACHE_HOME"]).exists():
            self.own_folder("headers", question, self.headers, SECONDS_TO_PRECOMPILE)
        return {**self.headers, **counting}

    def own_folder(self, name: str, question: Question, environment: dict[str, str], longest: float) -> Run:
        own = self.folder / name
        own.mkdir()
        return ask(question, own, Trouble("none", environment), seconds_to_end=longest)

    def of(self, question: Question) -> Run:
        if question.name not in self.known:
            run = self.own_folder(question.name, question, self.environment(question), SECONDS_TO_END)
            self.known[question.name] = run
            assert run.code == question.right, run.err
            require_nothing_left(run, Trouble("none"))
        return self.known[question.name]


@pytest.fixture
def full(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """That another user can get to: pytest's own folders are closed to others each time that a pytest starts."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def answers(program: Path, failing_calls: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return Answers(tmp_path_factory.mktemp("answers"), failing_calls)


# Calls of the system that fail

CALLS = {
    "fork": "EAGAIN",
    "open": "EMFILE",
    "open-to-write": "ENOSPC",
    "write": "ENOSPC",
    "read": "EIO",
    "mkdir": "ENOSPC",
    "rename": "EIO",
    "fsync": "EIO",
    "ftruncate": "ENOSPC",
    "unlink": "EACCES",
    "pipe": "EMFILE",
    "socket": "EMFILE",
    "mmap": "ENOMEM",
}
NUMBERS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]


def failing_call_rows(full: bool) -> list[tuple[Question, str]]:
    if not full:
        some = [("fork", "2"), ("open-to-write", "1"), ("write", "3"), ("mkdir", "1"), ("fsync", "1"), ("rename", "1")]
        named = [(REDUCTION, f"{name}:{number}:{CALLS[name]}") for name, number in some]
        return [
            *named,
            (REDUCTION, "read:34:EIO:all"),
            (KERNELS, "mkdir:1:ENOSPC:all"),
            (KERNELS, "mkdir:5:ENOSPC"),
            (PASSING, "fork:2:EAGAIN:all"),
            (FAILING, "mmap:2:ENOMEM"),
        ]
    each = [f"{name}:{number}:{error}" for name, error in CALLS.items() for number in NUMBERS]
    return [(question, row + rest) for question in QUESTIONS for row in each for rest in ("", ":all")]


def test_calls_that_fail(
    question: Question, row: str, answers: Answers, failing_calls: Path, tmp_path: Path, full: bool
) -> None:
    keeps_files = row.startswith(("unlink", "open")) and row.endswith("all")
    trouble = Trouble(row, {"LD_PRELOAD": str(failing_calls), "FAILING_CALL": row}, keeps_files=keeps_files)
    run = ask(question, tmp_path, trouble)
    require_no_conclusion(run, answers.of(question))
    require_nothing_left(run, trouble)
    if not full:  # the whole table also has numbers that some questions never come to
        assert run.failed_calls > 0


# Limits that a shell or a container sets

LIMITS = {
    "FSIZE": [0, 1 << 10, 1 << 14, 1 << 16, 1 << 20],
    "NOFILE": [8, 16, 24, 32, 48, 64],
    "AS": [1 << 28, 1 << 30, 1 << 31, 3 << 30, 1 << 32],
    "STACK": [1 << 18, 1 << 20],
    "CORE": [0],
    "NPROC": [0, 1, 2, 4, 8],
}


def limit_rows(full: bool) -> list[tuple[Question, str]]:
    if not full:
        return [(REDUCTION, "FSIZE=1024"), (REDUCTION, "NPROC=2"), (FAILING, "NOFILE=16"), (PASSING, "AS=1073741824")]
    return [(asked, f"{name}={value}") for asked in QUESTIONS for name, values in LIMITS.items() for value in values]


def with_limit(name: str, value: int) -> Callable[[], None]:
    def before() -> None:
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))

    return before


def test_limits(question: Question, row: str, answers: Answers, open_folder: Path) -> None:
    name, value = row.split("=")
    user = NOBODY if name == "NPROC" and os.getuid() == 0 else None
    if user and not reads_as(user, question):
        pytest.skip("another user cannot read the program here")
    trouble = Trouble(row, before=with_limit(name, int(value)), user=user)
    if user:
        os.chown(open_folder, user, user)
    run = ask(question, open_folder, trouble)
    # A file may not grow: a process that writes is sent SIGXFSZ, which asks for the best so far. A program that the
    # limit keeps from being loaded ends before it is itself (127: by the dynamic linker).
    if not (name == "FSIZE" and run.code == INTERRUPTED) and not (name in ("AS", "NOFILE") and run.code == 127):
        require_no_conclusion(run, answers.of(question))
    require_nothing_left(run, trouble)


def reads_as(user: int, question: Question) -> bool:
    words = ["test", "-r", question.words[1] if question.words[0] == "run" else question.words[0]]
    return subprocess.run(words, user=user).returncode == 0


# Standard streams


def closed(*numbers: int) -> Callable[[], None]:
    def before() -> None:
        for number in numbers:
            os.close(number)

    return before


STREAMS: dict[str, Callable[[], None]] = {
    "stdin closed": closed(0),
    "stdout closed": closed(1),
    "stderr closed": closed(2),
    "all closed": closed(0, 1, 2),
}


def stream_rows(full: bool) -> list[tuple[Question, str]]:
    if not full:
        return [*((FAILING, name) for name in STREAMS), (REDUCTION, "stderr closed"), (REDUCTION, "all closed")]
    return [(asked, name) for asked in QUESTIONS for name in STREAMS]


def test_standard_streams(question: Question, row: str, answers: Answers, tmp_path: Path) -> None:
    trouble = Trouble(row, before=STREAMS[row])
    run = ask(question, tmp_path, trouble)
    had_no_reader = row in ("stdout closed", "all closed") and "--json" in question.words
    assert run.code in ({NO_MACHINE} if had_no_reader else {question.right, NO_MACHINE}), run.err
    require_nothing_left(run, trouble)


@pytest.mark.parametrize("question", [FAILING, PASSING], ids=lambda question: str(question.name))
def test_a_result_that_has_no_room(question: Question, answers: Answers, tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        run = ask(question, tmp_path, Trouble("/dev/full", streams={"stdout": full}))
    assert run.code == NO_MACHINE
    assert "standard output" in run.err


@pytest.mark.parametrize("question", [FAILING, REDUCTION], ids=lambda question: str(question.name))
def test_output_is_not_read(question: Question, answers: Answers, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = ask(question, tmp_path, Trouble("no reader", streams={"stdout": writing}))
    os.close(writing)
    assert run.code in (NO_MACHINE, INTERRUPTED) if question is FAILING else run.code in (0, INTERRUPTED), run.err
    require_nothing_left(run, Trouble("no reader"))


# Signals

SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGXFSZ"]
MOMENTS = 20
# The most forks after a signal: of what is asked already, and of a picture for the page. Four at most were seen. A
# whole reduction has sixty.
FORKS_TO_END = 12


def signal_rows(full: bool) -> list[tuple[Question, str]]:
    if not full:
        return [(REDUCTION, f"{name}@{at}") for name, at in zip(SIGNALS, (1, 5, 9, 12, 15, 18))]
    asked = [FAILING, REDUCTION, VERIFIED]
    return [(each, f"{name}@{at}") for each in asked for name in SIGNALS for at in range(MOMENTS)]


def test_signals(
    question: Question, row: str, answers: Answers, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    name, at = row.split("@")
    right = answers.of(question)
    trouble = Trouble(row, answers.environment(question))
    run = ask(question, tmp_path, trouble, stop=(getattr(signal, name), right.forks * int(at) // MOMENTS))
    record_property("forks", f"{run.forks_after_signal} of {right.forks}")
    record_property("code", run.code)
    # Before main() has said what is to become of signals, each does what it does to any program.
    too_early = run.code == -getattr(signal, name) and not run.err and not run.out
    assert run.code in (INTERRUPTED, question.right) or too_early, run.err
    assert run.forks_after_signal <= FORKS_TO_END
    if run.code == question.right:
        require_no_conclusion(run, right)
    require_nothing_left(run, trouble)
    require_best_so_far(run)


def require_best_so_far(run: Run) -> None:
    """Requires that what was found, if anything, is there, whole, with a report."""
    out = run.folder / "out"
    if not (out / "reduced.pt").exists():
        return
    assert (out / "report.json").exists() and (out / "report.md").exists()
    report = json.loads((out / "report.json").read_text())
    assert report["interrupted"] == (run.code == INTERRUPTED)
    again = ask(Question("again", ("run", str(out / "reduced.pt"), "--backend", "jit"), 1), run.folder, Trouble("none"))
    assert again.code == 1, again.err


# A disk that is full


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount a file system: RLIMIT_FSIZE stands for it")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def full_disk_rows(full: bool) -> list[tuple[Question, str]]:
    """How many kilobytes are left on the disk of a place."""
    left = {"results": [0, 16, 48], "temporary": [0, 16], "cache": [0, 16]}
    if full:
        left = dict.fromkeys(left, [0, 4, 16, 32, 48])
    return [(KERNELS if place == "cache" else REDUCTION, f"{place}={kilobytes}")
            for place, each in left.items() for kilobytes in each]  # fmt: skip


def test_a_full_disk(question: Question, row: str, answers: Answers, tmp_path: Path, small_disk: Path) -> None:
    place, _, left = row.partition("=")
    (small_disk / "filler").write_bytes(bytes((64 - int(left)) << 10) if int(left) else b"")
    if not int(left):
        with pytest.raises(OSError):
            (small_disk / "filler").write_bytes(bytes(65 << 10))
    environment = {
        "results": {},
        "temporary": {"TMPDIR": str(small_disk)},
        "cache": {"XDG_CACHE_HOME": str(small_disk)},
    }[place]
    if place == "results":
        (tmp_path / "out").symlink_to(small_disk)
    run = ask(question, tmp_path, Trouble(place, environment, keeps_files=place == "temporary"))
    require_no_conclusion(run, answers.of(question))
    assert run.processes == []


# Folders of another user


@pytest.mark.parametrize("place", ["TMPDIR", "XDG_CACHE_HOME", "HOME"])
@pytest.mark.parametrize("question", [FAILING, KERNELS], ids=lambda question: str(question.name))
def test_folders_of_another_user(place: str, question: Question, answers: Answers, open_folder: Path) -> None:
    """Runs it as a user who may not write there: root's own folders are of another user."""
    if os.getuid() != 0:
        pytest.skip("needs root, to be two users")
    if not reads_as(NOBODY, question):
        pytest.skip("another user cannot read the program here")
    roots = open_folder / "of-root"
    roots.mkdir(mode=0o755)
    (roots / "planted").write_text("mine")
    run = ask(question, open_folder, Trouble(place, {place: str(roots)}, user=NOBODY))
    require_no_conclusion(run, answers.of(question))
    assert [entry.name for entry in roots.iterdir()] == ["planted"]
    assert run.processes == []


TABLES: dict[str, Callable[[bool], list[tuple[Question, str]]]] = {
    "test_calls_that_fail": failing_call_rows,
    "test_limits": limit_rows,
    "test_a_full_disk": full_disk_rows,
    "test_standard_streams": stream_rows,
    "test_signals": signal_rows,
}
