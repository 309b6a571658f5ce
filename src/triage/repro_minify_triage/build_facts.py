"""What a night's answers depend on beside the models: tool, torch, compiler, machine."""

import hashlib
import platform
import re
import shutil
import subprocess
from pathlib import Path

from .errors import TriageError


def output_of(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TriageError(f"{command[0]}: cannot be run ({error}); name another with --program") from error
    if done.returncode != 0:
        raise TriageError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout.strip()


def digest_of_file(path: str) -> str:
    found = Path(shutil.which(path) or path)
    with found.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def torch_of_python(python: str) -> str:
    code = "import importlib.metadata as m; print(m.version('torch'))"
    try:
        return output_of([python, "-c", code])
    except TriageError:
        return "none"


def library_version(program: str) -> str:
    """The LibTorch that the program was linked with, as `ldd` and the version header beside it say."""
    linked = subprocess.run(["ldd", shutil.which(program) or program], capture_output=True, text=True).stdout
    found = re.search(r"=> (\S+)/lib/libtorch_cpu\.so", linked)
    for name in ("torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"):
        header = Path(found.group(1)) / "include" / name if found else None
        if header and header.is_file():
            text = header.read_text(errors="replace")
            digits = re.findall(r"#define TORCH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
            if len(digits) == 3:
                return ".".join(digits)
    return "unknown"


def build_facts(program: str, python: str | None) -> dict[str, str]:
    compiler = shutil.which("c++")
    return {
        "tool": output_of([program, "--version"]),
        "program": digest_of_file(program),
        "torch": library_version(program),
        "python": f"{python} (torch {torch_of_python(python)})" if python else "",
        "compiler": output_of([compiler, "--version"]).splitlines()[0] if compiler else "none",
        "machine": f"{platform.machine()} {platform.system()} {platform.release()}",
    }
