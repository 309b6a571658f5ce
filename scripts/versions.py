#!/usr/bin/env python3
"""Builds against one LibTorch after the other, tests each, and prints a table.

    scripts/versions.py                      2.12.1, 2.13.0, 2.14.1 and 2.15.0
    scripts/versions.py 2.14.1 --only build  that one, and no test

Each version has a folder build/versions/VERSION: `venv` (torch from PyPI, for the CPU where there is one), `build`, and
what the tests said (`fast.xml`, `torch.xml`, `cases.xml`, as JUnit has it). A version for a GPU takes 5 GB, and half an
hour on two cores. What is there already is not made again. The cases of fixtures/ are failures of torch 2.13.0; those
that a version has mended are named in fixtures/cases/expected.json, and pass where they do.

Exit code 1 if something does not build, or a test fails.
"""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ["2.12.1", "2.13.0", "2.14.1", "2.15.0"]  # as src/tested_torch.cmake has the oldest and the newest
# The arguments of ctest for each column, by its name.
TESTS = {"fast": ["-L", "^fast$"], "torch": ["-L", "^torch$"], "cases": ["-R", "^Cases/"]}
CONFIG = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"


@dataclass
class Row:
    version: str
    cells: dict[str, str]
    held: bool = True


def run(command: Sequence[str | Path], log: Path) -> bool:
    """Runs a command, whose output goes to `log`. Returns True if it ended with 0."""
    with log.open("w") as out:
        return subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT).returncode == 0


def install(folder: Path, version: str) -> bool:
    python = folder / "venv/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip: list[str | Path] = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "numpy"]
    return any(run([*pip, f"torch=={wanted}"], folder / "pip.log") for wanted in (f"{version}+cpu", version))


def build(folder: Path) -> bool:
    python = folder / "venv/bin/python"
    asked = subprocess.run([python, "-c", CONFIG], capture_output=True, text=True, check=True)
    torch_dir = Path(asked.stdout.strip()) / "share/cmake/Torch"
    where = [f"-DTorch_DIR={torch_dir}", f"-DCMAKE_PREFIX_PATH={torch_dir.parent}", f"-DREPRO_MINIFY_PYTHON={python}"]
    configure: list[str | Path] = ["cmake", "--preset", "release", "-B", folder / "build", *where]
    compile_all: list[str | Path] = ["cmake", "--build", folder / "build", "--parallel", str(os.cpu_count())]
    return run(configure, folder / "configure.log") and run(compile_all, folder / "build.log")


def tested(folder: Path, name: str) -> tuple[str, bool]:
    """ "42 passed", "1 of 42 failed": the cell, and whether all is well."""
    report = folder / f"{name}.xml"
    command: list[str | Path] = ["ctest", "--test-dir", folder / "build", "--output-junit", report, *TESTS[name]]
    report.unlink(missing_ok=True)
    passed = run(command, folder / f"{name}.log")
    if not report.exists():
        return "no answer", False
    cases = xml.parse(report).getroot().findall("testcase")
    failed = [case for case in cases if case.find("failure") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    words = f"{len(failed)} of {len(cases)} failed" if failed else f"{len(cases) - skipped} passed"
    return words + (f", {skipped} skipped" if skipped else ""), passed and len(cases) > 0


def row_of(version: str, only: list[str]) -> Row:
    folder = ROOT / "build/versions" / version
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    row = Row(version, {})
    if not install(folder, version):
        return Row(version, {"build": f"cannot be installed: {folder}/pip.log"}, held=False)
    if not build(folder):
        return Row(version, {"build": f"does not build: {folder}/build.log"}, held=False)
    row.cells["build"] = f"{(time.monotonic() - begin) / 60:.0f} min"
    for name in TESTS:
        if name in only:
            row.cells[name], held = tested(folder, name)
            row.held &= held
    return row


def table(rows: list[Row]) -> str:
    columns = ["build", *TESTS]
    lines = ["| LibTorch | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {row.version} | " + " | ".join(row.cells.get(c, "") for c in columns) + " |" for row in rows]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", default=VERSIONS, metavar="VERSION")
    parser.add_argument(
        "--only", default=",".join(TESTS), type=lambda text: text.split(","), help="`build`, or tests, with commas"
    )
    options = parser.parse_args()
    rows = []
    for version in options.versions:
        print(f"== {version}", file=sys.stderr, flush=True)
        rows.append(row_of(version, options.only))
    print(table(rows))
    return 0 if all(row.held for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
