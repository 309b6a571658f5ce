"""Finds the program, and starts it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .errors import BadInput, CannotStart, DoesNotFail, EagerNotReproducible, InternalError, ReproMinifyError
from .torch_version import own_programs, program_for_torch

VARIABLE = "REPRO_MINIFY_PROGRAM"
STARTER = "REPRO_MINIFY_ENDS_WITH"  # the program ends where the process of this number does
PATIENCE = 30  # seconds for an interrupted program to put away what it has; it takes two
# Words of the loader about a program that it cannot start; it ends with 1 or 127 then.
OF_THE_LOADER = ("error while loading shared libraries", "symbol lookup error", "' not found (required by ")


@dataclass(frozen=True)
class Program:
    path: str
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Ended:
    code: int
    output: str  # standard output
    said: str  # standard error


def own_program() -> Program:
    """The one of the wheel. Its RPATH finds torch beside this package; elsewhere the loader has to be told."""
    program, torch = program_for_torch()
    environment = dict(os.environ)
    if torch.parent.resolve() != Path(__file__).parent.parent.resolve():
        before = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = str(torch / "lib") + (f":{before}" if before else "")
    return Program(str(program), environment)


def find_program() -> Program:
    """REPRO_MINIFY_PROGRAM names one; otherwise the one that came with this package; otherwise the one in PATH."""
    if named := os.environ.get(VARIABLE):
        if not os.access(named, os.X_OK) or Path(named).is_dir():
            raise CannotStart(f"{VARIABLE}={named}: no program; name the repro-minify that you have built")
        return Program(str(Path(named).absolute()), os.environ)
    if own_programs():
        return own_program()
    if found := shutil.which("repro-minify"):
        return Program(found, os.environ)
    raise CannotStart(
        f"there is no program repro-minify: build it (scripts/build.sh) and name it with {VARIABLE}, or pip install ."
    )


def collect(process: subprocess.Popen[bytes], show: bool) -> str:
    """Returns what the program says; with `show`, prints each line to our standard error, which a notebook shows."""
    lines = []
    for line in process.stderr or ():
        text = line.decode(errors="replace")
        lines.append(text)
        if show:
            print(text, end="", file=sys.stderr, flush=True)
    return "".join(lines)


def heed(process: subprocess.Popen[bytes], show: bool) -> str:
    """Returns what the program says until it ends. An interruption is passed on once, as a second one would end the
    program at once; its text is then where the program left the best so far."""
    try:
        return collect(process, show)
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        said = collect(process, show).splitlines()
        process.wait(PATIENCE)
    raise KeyboardInterrupt(*(line.removeprefix("warning: ") for line in said[-1:]))


def run(arguments: Sequence[str], *, show: bool = False) -> Ended:
    """In a process group of its own, so that Ctrl-C comes to Python alone, which passes it on.

    The program asks the kernel to end it with the thread that is here, which waits for it.
    """
    program = find_program()
    environment = {**program.environment, STARTER: str(os.getpid())}
    with tempfile.TemporaryFile() as output:
        command = [program.path, *arguments]
        try:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, env=environment, process_group=0)
        except OSError as error:
            raise CannotStart(f"{program.path}: cannot be started: {error.strerror}") from error
        with process:
            try:
                said = heed(process, show)
                code = process.wait()
            except BaseException:
                process.kill()
                raise
        output.seek(0)
        return Ended(code, output.read().decode(errors="replace"), said)


def sentence_of(said: str) -> str:
    """The last error, with the lines that belong to it."""
    lines = said.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("error: ")]
    told = lines[starts[-1] :] if starts else lines[-3:]
    return "\n".join(told).removeprefix("error: ").strip() or "the program ended without a word"


KINDS: dict[int, type[ReproMinifyError]] = {1: DoesNotFail, 2: BadInput, 3: EagerNotReproducible, 70: InternalError}


def raise_for(ended: Ended) -> NoReturn:
    """Raises the exception that stands for the exit code and the sentence of the program."""
    if ended.code == 130:
        raise KeyboardInterrupt(sentence_of(ended.said))
    if any(words in ended.said for words in OF_THE_LOADER):
        raise CannotStart(
            f"{ended.said.strip()}; the program needs torch with all that it requires, and the system's C and C++ "
            "libraries, no older than those that it was built with"
        )
    if ended.code < 0:
        raise InternalError(f"the program was ended by signal {-ended.code}: {sentence_of(ended.said)}")
    raise KINDS.get(ended.code, InternalError)(sentence_of(ended.said))


def main() -> int:
    """The command repro-minify of the wheel: becomes the program, once it is known to suit this torch."""
    try:
        program = own_program()
        os.execve(program.path, [program.path, *sys.argv[1:]], dict(program.environment))
    except (ReproMinifyError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 2
