"""The one seam between triage and the machines: a job goes in as a folder, a result comes out as a folder.

A job's folder holds job.json, and the files that it names; a result's holds result.json, and what the program wrote.
Running a job twice gives the same answer, so one that was lost is run again.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .models import as_text, data_beside, inputs_beside
from .variants import Variant

NO_ANSWER = "no answer"
STDERR_KEPT = 4000  # characters: the sentence that says what was wrong is at the end


@dataclass(frozen=True)
class Job:
    """A question to repro-minify about one model."""

    name: str  # unique in its night; also the name of its folders
    kind: str  # "check" or "reduce"
    model: str
    backends: tuple[str, ...]
    options: tuple[str, ...]
    timeout: float
    memory_gib: float = 2
    python: str = ""  # the build's, as LibTorch is: it is no part of what a bug is known by


@dataclass
class Result:
    """`lost`: why there is none (no node, killed, too late); the exit code says nothing then."""

    exit_code: int = -1
    output: Any = None
    message: str = ""
    seconds: float = 0.0
    lost: str = ""
    folder: Path | None = field(default=None, compare=False)


def write_job(job: Job, folder: Path) -> None:
    """The files are linked, not copied: what carries them elsewhere follows the links."""
    folder.mkdir(parents=True, exist_ok=True)
    model = Path(job.model)
    links = [("model.pt", model)] + ([("inputs.pt", beside)] if (beside := inputs_beside(model)) else [])
    for name, target in links:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target.resolve())
    for file in data_beside(model):
        beside = folder / file.relative_to(model.resolve().parent)
        beside.parent.mkdir(parents=True, exist_ok=True)
        copy_cheaply(file, beside)
    (folder / "job.json").write_text(json.dumps(asdict(job)))


def copy_cheaply(file: Path, to: Path) -> None:
    """No symbolic link: repro-minify follows none to the data of a program."""
    to.unlink(missing_ok=True)
    try:
        os.link(file, to)
    except OSError:  # another disk
        shutil.copyfile(file, to)


def command_of(job: Job, folder: Path, program: str, output: Path) -> list[str]:
    common = ["--backend", ",".join(job.backends), *job.options, *(["--python", job.python] if job.python else [])]
    if job.kind == "check":
        return [program, "run", str(folder / "model.pt"), "--json", "--no-timing", *common]  # times take as long again
    return [program, str(folder / "model.pt"), *common, "-o", str(output), "--force", "--quiet"]


def run_job(folder: Path, result_folder: Path, program: str) -> None:
    """Runs what the folder asks for. result.json is written last: a folder without it has no result."""
    job = Job(**{**(given := json.loads((folder / "job.json").read_text())),
                 "backends": tuple(given["backends"]), "options": tuple(given["options"])})  # fmt: skip
    result_folder.mkdir(parents=True, exist_ok=True)
    output = result_folder / "repro"
    result = run_command(command_of(job, folder, program, output), job.timeout)
    if job.kind == "check":
        result.output = json_or_none(result.output)
        if isinstance(result.output, dict):
            result.output = [result.output]
        result.output = named_as_given(result.output, job, folder)
    else:
        report = output / "report.json"
        result.output = json_or_none(report.read_text()) if report.is_file() else None
    result.message = named_as_given(result.message, job, folder)
    row = {key: value for key, value in asdict(result).items() if key != "folder"}
    partial = result_folder / "result.json.partial"
    partial.write_text(json.dumps(row))
    os.replace(partial, result_folder / "result.json")


def named_as_given(value: Any, job: Job, folder: Path) -> Any:
    """Returns `value` with the paths of the job's own files replaced by those of the files that the user has."""
    if isinstance(value, dict):
        return {key: named_as_given(each, job, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [named_as_given(each, job, folder) for each in value]
    if isinstance(value, str):
        for name, given in (("model.pt", job.model), ("inputs.pt", Path(job.model).with_name("inputs.pt"))):
            value = value.replace(str(folder / name), as_text(given))
    return value


LONGEST = 2e6  # seconds, 23 days: the kernel's poll() takes no more
RUNNING: set["subprocess.Popen[str]"] = set()  # what this process has started and waits for
ENDING = threading.Event()  # set where a pool was interrupted: what is started from then on ends at once
TAKES_ALONG = ("setpriv", "--pdeathsig", "KILL")  # of util-linux: the kernel ends what a killed triage had started


def run_command(command: list[str], timeout: float) -> Result:
    start = time.monotonic()
    if not shutil.which(command[0]):
        return Result(lost=f"{command[0]} cannot be started: there is no such program")
    if shutil.which(TAKES_ALONG[0]):
        command = [*TAKES_ALONG, *command]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return Result(lost=f"{command[0]} cannot be started: {error.strerror}")
    RUNNING.add(process)
    if ENDING.is_set():
        end_group(process)
    try:
        out, err = process.communicate(timeout=min(timeout, LONGEST))
    except subprocess.TimeoutExpired:
        end_with_children(process)
        return Result(lost=f"no answer within {timeout:.0f} s", seconds=time.monotonic() - start)
    except BaseException:
        end_with_children(process)
        raise
    finally:
        RUNNING.discard(process)
    return Result(process.returncode, out, err[-STDERR_KEPT:].strip(), time.monotonic() - start)


def end_running() -> None:
    """Whose threads then come to their end: a run that is interrupted waits for no program."""
    for process in list(RUNNING):
        end_group(process)


def end_group(process: "subprocess.Popen[str]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_with_children(process: "subprocess.Popen[str]") -> None:
    end_group(process)
    process.communicate()


def json_or_none(text: str) -> Any:
    """A program that was killed in the middle of a list of rows leaves those before it: they count."""
    for candidate in (text, text.rstrip().rstrip(",") + "]"):
        try:
            return json.loads(candidate)
        except (json.JSONDecodeError, TypeError, AttributeError):
            continue
    return None


def read_result(folder: Path) -> Result:
    try:
        return Result(**json.loads((folder / "result.json").read_text()), folder=folder)
    except (OSError, json.JSONDecodeError, TypeError):
        return Result(lost="the job left no result")


def clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def check_job(name: str, model: str, variants: list[Variant], timeout: float, python: str = "") -> Job:
    """One process for all of them: they have the same options."""
    assert len({variant.options for variant in variants}) == 1
    backends = tuple(variant.backend for variant in variants)
    return Job(name, "check", model, backends, variants[0].options, timeout * len(backends), python=python)


def reduce_job(name: str, model: str, variant: Variant, timeout: float, options: tuple[str, ...],
               python: str = "") -> Job:  # fmt: skip
    options = (*variant.options, *options)
    return Job(name, "reduce", model, (variant.backend,), options, timeout, memory_gib=4, python=python)
