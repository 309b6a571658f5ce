"""Finds what a night's answers depend on beside the models: tool, torch, compiler, machine."""

import difflib
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .errors import TriageError
from .variants import Variant


def ended(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Whatever its exit code."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, errors="replace", env=os.environ | environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TriageError(f"{command[0]}: cannot be run ({error}); name another with --program") from error


def done_by(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    done = ended(command, **environment)
    if done.returncode != 0:
        raise TriageError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[-400:]}")
    return done


def output_of(command: list[str]) -> str:
    return done_by(command).stdout.strip()


def digest_of_files(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def torch_of_python(python: str) -> str:
    code = "import importlib.metadata as m; print(m.version('torch'))"
    try:
        return output_of([python, "-c", code])
    except TriageError:
        return "none"


class Loaded:
    """The version that a program says it has, and the files that it starts and loads. The loader is asked, and not the
    file: a program may be a script around another, and what it loads may be built anew under the version that it had.
    """

    def __init__(self, program: str) -> None:
        done = done_by([program, "--version"], LD_DEBUG="libs")
        # "repro-minify 0.1.0", and what it was built from and with on more lines
        self.version, told = (done.stdout.partition("\n")[0].split() or [""])[-1], done.stderr
        found = re.search(r"calling init: (.+/lib/libtorch_cpu\.so)", told)
        self.library = Path(found.group(1)) if found else None
        started = [program, *re.findall(r"transferring control: (.+)", told)]
        files = [Path(shutil.which(name) or name) for name in started]
        self.files = [*dict.fromkeys(files), *([self.library] if self.library else [])]

    def torch_version(self) -> str:
        """Returns the version in the library's own header, or "unknown"."""
        for name in ("torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"):
            header = self.library.parent.parent / "include" / name if self.library else None
            if header and header.is_file():
                version = re.search(r'#define TORCH_VERSION\s+(?:\\\s+)?"(.+)"', header.read_text(errors="replace"))
                if version:  # of a nightly build too: with its day
                    return version.group(1)
        return "unknown"

    def digest(self) -> str:
        """Returns a digest of the program, of what it is a script around, and of LibTorch."""
        return digest_of_files(path for path in self.files if path.is_file())


def require_known(program: str, variants: Iterable[Variant]) -> None:
    """A name or an option that the program does not know would cost a night without an answer."""
    variants = list(variants)
    try:
        known = [row["name"] for row in json.loads(output_of([program, "backends", "--json"]))]
    except (ValueError, KeyError, TypeError) as error:
        raise TriageError(f"{program}: lists no backends; name a repro-minify with --program") from error
    for name in {variant.backend for variant in variants}:
        if name not in known and not name.startswith(("plugin:", "command:")):
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise TriageError(f"--backend {name}: no such backend; {meant}`repro-minify backends` lists them")
    for options in {variant.options: None for variant in variants if variant.options}:
        done = ended([program, "run", *options, "--print-config"])
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["they are refused"])[-1].removeprefix("error: ")
            raise TriageError(f"options of a backend ({shlex.join(options)}): {said}")


def build_facts(program: str, python: str | None) -> dict[str, str]:
    compiler = shutil.which("c++")
    loaded = Loaded(program)
    return {
        "tool": loaded.version,
        "program": loaded.digest(),
        "torch": loaded.torch_version(),
        "python": f"{python} (torch {torch_of_python(python)})" if python else "",
        "compiler": output_of([compiler, "--version"]).splitlines()[0] if compiler else "none",
        "machine": f"{platform.machine()} {platform.system()} {platform.release()}",
    }
