#!/usr/bin/env python3
"""check_columns.py [FOLDER]: no line of prose or code is longer than 120 columns. FOLDER is by default the repository.

Prints each line that is, and exits with 1 if there is any. What cannot be broken does not count:

- a row of a table in Markdown;
- a line that is one URL, with what stands around it;
- of a template, the marks ({{...}}): what stands between two of them does, since what is written has no more lines.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

COLUMNS = 120
SUFFIXES = {".c", ".cmake", ".cpp", ".css", ".h", ".inc", ".j2", ".js", ".md", ".py", ".sh", ".sql", ".toml", ".tpl"}
SUFFIXES |= {".yaml", ".yml"}
# Folders of what is built, or written by a run.
SKIPPED = {".git", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__", "build", "out"}
# Every exemption, with its reason. Goldens, archives and JSON are data, and have none of the suffixes above.
EXEMPT = {
    "docs/found": "each issue.md as repro-minify wrote it: a paragraph of an issue is one line, a command is one",
    "fixtures/doors": "what torch.compile wrote, as it wrote it",
    "fixtures/cases": "models as they came, whose archives hold line numbers, and what was measured on them",
}

URL = re.compile(r"\W*\w+://\S+")
MARK = re.compile(r"\{\{.*?\}\}")


def pieces(name: str, line: str) -> list[str]:
    """Returns the pieces of a line that have to fit."""
    if name.endswith(".md") and line.lstrip().startswith("|") or URL.fullmatch(line.strip()):
        return []
    return MARK.split(line) if name.endswith(".tpl") else [line]


def files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        name = "/".join(parts)
        if SKIPPED.isdisjoint(parts) and not any(name.startswith(folder + "/") for folder in EXEMPT) and path.is_file():
            if path.suffix in SUFFIXES or path.name == "CMakeLists.txt":
                yield path


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    count = problems = 0
    for path in files(root):
        count += 1
        for number, line in enumerate(path.read_text().splitlines(), 1):
            longest = max((len(piece) for piece in pieces(path.name, line)), default=0)
            if longest > COLUMNS:
                print(f"{path.relative_to(root)}:{number}: {longest} columns")
                problems += 1
    print(f"{count} files, {problems} lines of more than {COLUMNS} columns")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
