#!/usr/bin/env python3
"""tree_figures.py [REVISION ...]: how large the parts of the tree are, a column for each revision (default: HEAD).

Lines by folder, files of more than 300 lines, functions of more than 50, and the public header with the most lines.
C++ is read as clang-format leaves it: a function ends with a brace in the column in which it began.
"""

import ast
import io
import re
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE, LONGEST_FUNCTION = 300, 50
CODE = {".h", ".cpp", ".c", ".py"}
NO_FUNCTION = re.compile(r"\s*(namespace|struct|class|enum|union|extern|template|public|private|protected|#|//|/\*|\})")


def files_of(revision: str) -> dict[PurePosixPath, str]:
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, check=True, capture_output=True).stdout
    files = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if member.isfile() and path.suffix in CODE and path.parts[0] in {"src", "include", "tests", "scripts"}:
                content = archive.extractfile(member)
                files[path] = content.read().decode() if content else ""
    return files


def folder_of(path: PurePosixPath) -> str:
    """src/reduce/passes counts with src/reduce."""
    depth = 2 if path.parts[0] in {"src", "tests"} and len(path.parts) > 2 else 1
    return "/".join(path.parts[:depth])


def functions_in_cpp(text: str) -> list[tuple[str, int]]:
    """Name and lines. A function begins in column 0, or 2 in a class, and is no declaration."""
    found = []
    lines = text.split("\n")
    for column in (0, 2):
        start = None
        for number, line in enumerate(lines):
            indentation = len(line) - len(line.lstrip())
            if start is None and indentation == column and "(" in line and not NO_FUNCTION.match(line):
                start = number
            if start is not None and indentation == column and line.strip() in {"}", "};"}:
                name = re.match(r".*?([\w:~]+|operator\S+)\s*\(", lines[start])
                found.append((name.group(1) if name else lines[start].strip(), number - start + 1))
                start = None
            elif start is not None and line.endswith(";") and indentation == column:
                start = None
    return found


def functions_in_python(text: str) -> list[tuple[str, int]]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, functions)
    ]


def figures(revision: str) -> tuple[Counter[str], list[str], list[str], str]:
    lines: Counter[str] = Counter()
    long_files, long_functions, headers = [], [], []
    for path, text in files_of(revision).items():
        count = text.count("\n")
        lines[folder_of(path)] += count
        if count > LONGEST_FILE:
            long_files.append(f"{path} {count}")
        if path.parts[0] == "include":
            headers.append((count, path.name))
        functions = functions_in_python if path.suffix == ".py" else functions_in_cpp
        long_functions += [f"{path} {name} {size}" for name, size in functions(text) if size > LONGEST_FUNCTION]
    widest = max(headers, default=(0, "none"))
    return lines, sorted(long_files), sorted(long_functions), f"{widest[1]}: {widest[0]}"


def main(revisions: list[str]) -> None:
    columns = [figures(revision) for revision in revisions]
    print("| |", " | ".join(revisions), "|\n|---|" + "---|" * len(revisions))
    for folder in sorted(set().union(*(column[0] for column in columns))):
        print(f"| {folder} |", " | ".join(str(column[0][folder] or "") for column in columns), "|")
    print("| all lines |", " | ".join(str(sum(column[0].values())) for column in columns), "|")
    for row, title in ((1, f"files over {LONGEST_FILE} lines"), (2, f"functions over {LONGEST_FUNCTION}")):
        for inside in ("src", "include", "tests", "scripts"):
            counts = [sum(one.startswith(inside) for one in column[row]) for column in columns]
            print(f"| {title}, {inside} |", " | ".join(map(str, counts)), "|")
    print("| the longest public header |", " | ".join(column[3] for column in columns), "|")
    for one in columns[-1][1] + columns[-1][2]:
        print(one)


if __name__ == "__main__":
    main(sys.argv[1:] or ["HEAD"])
