#!/usr/bin/env python3
"""Checks that the includes of src/, include/ and tests/ point one way.

    cli -> pipeline -> repro, reduce -> check, backends -> program -> tasks, core

and that what is meant to know nothing of LibTorch includes nothing of it. Prints each include that does not belong, and
each include cycle; exit code 1 if there is any.
"""

import re
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The folders that a folder of src/ may include, itself aside. A name with a * is of files of a folder that know less
# than the rest of it.
ALLOWED = {
    "core": set(),
    "tasks": {"core"},
    "program/pickle*": {"core"},
    "reduce/search*": {"core", "tasks"},
    "program": {"core", "program/pickle*", "tasks"},
    "backends": {"core", "program", "tasks"},
    "backends/libtorch": {"core", "program", "backends"},
    "backends/inductor": {"core", "program", "tasks", "backends"},
    "backends/external": {"core", "program", "tasks", "backends"},
    "backends/inductor_like/kernel*": {"core", "tasks"},
    "backends/inductor_like": {"core", "program", "tasks", "backends", "backends/inductor_like/kernel*"},
    "check": {"core", "program", "backends", "tasks"},
    "reduce/passes": {"core", "program", "check", "reduce/search*"},
    "reduce": {"core", "program", "backends", "check", "tasks", "reduce/search*", "reduce/passes"},
    "repro": {"core", "program", "backends", "check", "tasks", "reduce", "reduce/search*"},
}
ALLOWED["pipeline"] = set(ALLOWED)
ALLOWED["cli"] = set(ALLOWED)

# Which folder a public header speaks for.
PUBLIC = {
    "identity": "core",
    "sandbox": "tasks",
    "program": "program",
    "run_settings": "program",
    "load": "program",
    "archive": "program",
    "flatten": "program",
    "record": "program",
    "backend": "backends",
    "backend_parts": "backends",
    "conversion": "pipeline",
    "compare": "check",
    "check": "check",
    "analysis": "repro",
    "reducer": "reduce",
    "bisect": "reduce",
    "repro": "repro",
    "minify_options": "pipeline",
    "session": "pipeline",
    "minify": "pipeline",
}

TORCH_FREE = {"core", "tasks", "program/pickle*", "backends/inductor_like/kernel*", "reduce/search*"}
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
# core/torch_pch.h is the precompiled header of the targets that link LibTorch.
TORCH_FREE_EXCEPT = {"src/core/torch_pch.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    """The row of ALLOWED that a path such as reduce/passes/x.h belongs to; None for a header that is not ours."""
    parts = path.split("/")
    if parts[0] == "repro_minify" and len(parts) == 2:
        return PUBLIC.get(parts[1].removesuffix(".h"))
    for name in ALLOWED:
        if name.endswith("*") and fnmatch(path, name + ".*"):
            return name
    for length in (3, 2, 1):
        name = "/".join(parts[:length])
        if len(parts) > length and name in ALLOWED:
            return name
    return None


def sources():
    """Each source file with its folder; a test counts as part of the folder it mirrors, with all its rights and
    more."""
    for top in ("include", "src", "tests"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield top, path, folder_of(path.relative_to(ROOT / top).as_posix())


def cycles(graph):
    """Include cycles, each as the list of files along it."""
    done, found = set(), []

    def visit(node, trail):
        if node in trail:
            found.append(trail[trail.index(node) :] + [node])
            return
        if node in done:
            return
        for target in graph.get(node, ()):
            visit(target, trail + [node])
        done.add(node)

    for node in graph:
        visit(node, [])
    return found


def rooms(allowed):
    """Folders that may know each other in a circle: there is none."""
    return [f"the table has a circle: {' -> '.join(cycle)}" for cycle in cycles(allowed)]


def main():
    problems, graph, count = [], {}, 0
    for top, path, folder in sources():
        name = path.relative_to(ROOT).as_posix()
        included = INCLUDE.findall(path.read_text())
        count += 1
        if top != "tests":
            graph[path.relative_to(ROOT / top).as_posix()] = included
        for header in included:
            target = folder_of(header)
            if folder in TORCH_FREE and TORCH.match(header) and name not in TORCH_FREE_EXCEPT:
                problems.append(f"{name}: includes {header}, but {folder} knows nothing of LibTorch")
            if header.startswith("spdlog/") and folder != "core":
                problems.append(f"{name}: includes {header}, which belongs in src/core alone")
            if top == "include" and target is not None and not header.startswith("repro_minify/"):
                problems.append(f"{name}: includes {header}, which is not installed")
            if top == "tests" or folder is None or target is None or target == folder:
                continue
            if target not in ALLOWED[folder]:
                problems.append(f"{name}: includes {header}, but {folder} may not know {target}")
    problems += rooms(ALLOWED)
    problems += ["include cycle: " + " -> ".join(cycle) for cycle in cycles(graph)]
    for problem in problems:
        print(problem)
    print(f"{count} files, {len(problems)} includes out of place")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
