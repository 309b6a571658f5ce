#!/usr/bin/env python3
"""constants.py: how much each constant of the search matters, as rows of Markdown.

Compiles a copy of src/reduce/search*.cpp in which the constants are read from the environment (with constants.cpp,
half a minute), and counts questions with each halved and doubled: on planted failures of the seeds whose counts are
locked (CallCounts), of other seeds, and of other graphs. Needs build/release, for what the search links.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CONSTANT = re.compile(r"^constexpr (double|int|std::size_t|size_t) (\w+) = ([^;]+);", re.MULTILINE)
READ = """inline double given(const char *name, double value) {
  const char *other = std::getenv(name);
  return other ? std::atof(other) : value;
}
"""
LIBRARIES = ["spdlog", "fmt", "crypto", "seccomp", "boost_graph", "dl", "pthread"]


def compiled(work: Path) -> tuple[Path, list[tuple[str, str, float]]]:
    """The program, and the constants: type, name, value."""
    constants: list[tuple[str, str, float]] = []

    def variable(match: re.Match[str]) -> str:
        kind, name, value = match.groups()
        constants.append((kind, name, float(value)))
        return f'{kind} {name} = static_cast<{kind}>(given("{name}", {value}));'

    sources = ["#include <cstdlib>\n" + READ]
    (work / "reduce").mkdir()
    for original in sorted((ROOT / "src" / "reduce").glob("search*")):
        path = work / "reduce" / original.name
        path.write_text(CONSTANT.sub(variable, original.read_text()))
        if path.suffix == ".cpp":
            sources.append(f'#include "{path}"\n')
    bench = ROOT / "tests" / "bench" / "planted"
    for name in ("tools", "engine", "ddmin", "prob_dd", "counter_dd", "chunk_halving", "constants"):
        sources.append(f'#include "{bench / name}.cpp"\n')
    for name in ("planted_faults", "mean_questions"):
        sources.append(f'#include "{ROOT}/tests/reduce/search/{name}.cpp"\n')
    (work / "all.cpp").write_text("".join(sources))
    folders = [f"-I{folder}" for folder in (work, ROOT / "include", ROOT / "src", ROOT / "tests")]
    library = ROOT / "build" / "release" / "src" / "librepro_minify_core.a"
    command = ["c++", "-std=c++20", "-O1", *folders, str(work / "all.cpp"), str(library)]
    # The search of the library is there too, and is not taken.
    command += ["-Wl,--allow-multiple-definition", "-o", str(work / "bench"), *(f"-l{name}" for name in LIBRARIES)]
    subprocess.run(command, check=True)
    return work / "bench", constants


def counts(program: Path, *words: str, **changed: float) -> dict[str, float]:
    environment = {**os.environ, **{name: repr(value) for name, value in changed.items()}}
    printed = subprocess.run([program, *words], env=environment, check=True, capture_output=True, text=True).stdout
    return {name: float(count) for name, count in (line.split() for line in printed.splitlines())}


def others(kind: str, value: float) -> tuple[float, float]:
    if kind == "double":
        return value / 2, min(0.95, 2 * value)
    return max(1.0, value // 2), 2 * value


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program, constants = compiled(Path(folder))
        base = counts(program)
        row("", *base)
        row("---", *("---" for _ in base))
        row("questions, mean", *base.values())
        for tool in ("ddmin", "llvm-reduce"):
            row(tool, *counts(program, tool).values())
        for kind, name, value in constants:
            halved, doubled = (counts(program, **{name: other}) for other in others(kind, value))
            changes = (f"{halved[key] - of:+.2f}, {doubled[key] - of:+.2f}" for key, of in base.items())
            row(f"`{name}` {value:g}", *changes)


if __name__ == "__main__":
    main()
