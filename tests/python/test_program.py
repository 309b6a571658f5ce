"""Finding the program, its torch, and its sentences."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from repro_minify import BadInput, CannotStart, DoesNotFail, EagerNotReproducible, InternalError, torch_version
from repro_minify.program import Ended, find_program, raise_for, run, sentence_of


def fake(folder: Path, script: str) -> str:
    path = folder / "fake"
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return str(path)


def test_the_variable_names_it(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", fake(work, 'echo "$1"; echo "error: no" >&2; exit 3\n'))
    assert run(["--word"]) == Ended(3, "--word\n", "error: no\n")


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_what_is_no_program_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", name)
    with pytest.raises(CannotStart, match=f"REPRO_MINIFY_PROGRAM={name}: no program"):
        find_program()


def test_none_at_all(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    monkeypatch.delenv("REPRO_MINIFY_PROGRAM", raising=False)
    monkeypatch.setattr(torch_version, "PROGRAMS", work / "none")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotStart, match="there is no program"):
        find_program()


def test_output_of_any_size_does_not_block(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo 0123456789 >&2; i=$((i+1)); done\n"
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", fake(work, many))
    ended = run([])
    assert (len(ended.output), len(ended.said)) == (220000, 220000)


@pytest.mark.parametrize("group", [True, False])
def test_an_interruption_is_passed_on_once(work: Path, group: bool) -> None:
    """A terminal sends it to the whole process group, `kill` to Python alone."""
    program = fake(
        work,
        "trap 'echo caught >> caught' INT\necho started >&2\ni=0\n"
        "while [ ! -s caught ] || [ $i -lt 5 ]; do sleep 0.1; i=$((i+1)); done\ntouch kept\n"
        "echo 'warning: interrupted; the best so far is here' >&2\nexit 130\n",
    )
    code = (
        "from repro_minify.program import run\ntry: run([], show=True)\nexcept KeyboardInterrupt as error: print(error)"
    )
    environment = {**os.environ, "REPRO_MINIFY_PROGRAM": program}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        process_group=0,
    )
    assert process.stderr and process.stderr.readline() == "started\n"
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted; the best so far is here\n"
    assert (work / "kept").exists() and (work / "caught").read_text() == "caught\n"


def torch_of(folder: Path, version: str | None) -> Path | None:
    if version is None:
        return None
    folder.mkdir(exist_ok=True)
    (folder / "version.py").write_text(f"from x import y\n__version__ = '{version}'\ndebug = False\n")
    return folder


@pytest.fixture
def programs(work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with programs for three torches; one of them is a build of no release."""
    for name in ("2.12", "2.9", "2.14.0a0+git12ab"):
        (work / "bin" / name).mkdir(parents=True)
        (work / "bin" / name / "repro-minify").touch()
    monkeypatch.setattr(torch_version, "PROGRAMS", work / "bin")
    return work / "bin"


@pytest.mark.parametrize("present", ["2.13.0+cpu", "2.14.0", "2.14.0a0+git34cd", "2.12.0a0", None])
def test_a_torch_without_a_program_is_refused_in_a_sentence(
    present: str | None, programs: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_version, "torch_folder", lambda: torch_of(work / "torch", present))
    with pytest.raises(CannotStart) as raised:
        torch_version.program_for_torch()
    said = str(raised.value)
    has = f"torch {present}" if present else "no torch"
    assert said.startswith(
        f"this repro-minify is for torch 2.9, 2.12, 2.14.0a0+git12ab, and this environment has {has};"
    )
    assert "pip install 'torch==2.14.0a0+git12ab'" in said and "\n" not in said


@pytest.mark.parametrize(
    ("present", "name"),
    [("2.12.0", "2.12"), ("2.12.1+cu130", "2.12"), ("2.9.1+cpu", "2.9"), ("2.14.0a0+git12ab", "2.14.0a0+git12ab")],
)
def test_every_build_of_a_release_has_its_program(
    present: str, name: str, programs: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_version, "torch_folder", lambda: torch_of(work / "torch", present))
    assert torch_version.program_for_torch() == (programs / name / "repro-minify", work / "torch")


def test_the_sentence_is_the_last_error_with_its_lines() -> None:
    assert sentence_of("info: a\nerror: first\nerror: b\n  more of b\n") == "b\n  more of b"
    assert sentence_of("something else\n") == "something else"
    assert sentence_of("") == "the program ended without a word"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1, DoesNotFail),
        (2, BadInput),
        (3, EagerNotReproducible),
        (70, InternalError),
        (-11, InternalError),
        (99, InternalError),
    ],
)
def test_exit_codes_are_exceptions(code: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="the reason"):
        raise_for(Ended(code, "", "error: the reason\n"))


def test_interrupted() -> None:
    with pytest.raises(KeyboardInterrupt):
        raise_for(Ended(130, "", ""))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (127, "error while loading shared libraries: libcupti.so.13: cannot open shared object file"),
        (1, "/lib/libc.so.6: version `GLIBC_2.34' not found (required by repro-minify)"),
        (127, "symbol lookup error: repro-minify: undefined symbol: _ZN3c104fromEv"),
    ],
)
def test_what_the_loader_says_is_no_verdict(code: int, said: str) -> None:
    with pytest.raises(CannotStart, match="the program needs torch with all that it requires"):
        raise_for(Ended(code, "", f"repro-minify: {said}\n"))


def test_the_command_starts_without_torch() -> None:
    code = "import sys, repro_minify.program; sys.exit('torch' in sys.modules or 'jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_killed_python_takes_its_program_along(work: Path) -> None:
    """One that waits for an oracle, which waits for a file that nothing writes."""
    oracle = work / "oracle.sh"
    oracle.write_text(f"#!/bin/sh\ntouch {work}/started\nwhile [ ! -e {work}/never ]; do sleep 0.1; done\n")
    oracle.chmod(0o755)
    torch.jit.save(torch.jit.trace(torch.sin, torch.ones(2)), str(work / "sin.pt"))
    words = [f"--model={work}/sin.pt", "--input=f32[2]", f"--oracle={oracle}", "--timeout=3000"]
    with subprocess.Popen([sys.executable, "-c", f"from repro_minify.program import run; run({words!r})"]) as python:
        while not (work / "started").exists():
            assert python.poll() is None
            time.sleep(0.05)
        child = int(Path(f"/proc/{python.pid}/task/{python.pid}/children").read_text().split()[0])
        program_itself = os.pidfd_open(child)
        python.kill()
    ended = select.poll()
    ended.register(program_itself, select.POLLIN)
    assert ended.poll(60_000), "the program goes on without the Python that has started it"
    os.close(program_itself)


def test_of_whom_the_program_is_told(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", fake(work, 'echo "$REPRO_MINIFY_ENDS_WITH"\n'))
    assert run([]).output == f"{os.getpid()}\n"
