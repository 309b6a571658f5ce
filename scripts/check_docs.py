#!/usr/bin/env python3
"""check_docs.py [FOLDER]: what documents name is there. FOLDER is by default the repository.

Looks at every Markdown file: links, to files and to headings, and the paths of the tree that the text names. A path is
a word that begins with a folder of the tree (docs/pages.md), or with one of src/ where it ends as a source does
(program/load.h); a name alone (`reducer.cpp`, as code) has to be that of some file. `*`, `{a,b}` and words in capitals
(NAME) stand for any file. Prints each that is missing, with its line, and exits with 1 if there is any.
"""

import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

# Folders of what is built, or written by a run.
SKIPPED = {".git", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__", "build", "out"}
TREE = ("docs", "src", "tests", "scripts", "fixtures", "include", ".ci", ".github")
# Every exemption, with its reason.
QUOTED = {"docs/found"}  # each issue.md as repro-minify wrote it
HISTORY = {"CHANGELOG.md"}  # names files that were there; its links have to work
ELSEWHERE = {
    *("repro.cpp", "test_repro.py", "report.md", "issue.md"),  # what the program writes
    *("run_it.py", "interesting.sh"),  # what a reader writes
    *("module.h", "TorchConfig.cmake"),  # LibTorch's
}

LINK = re.compile(r"\]\(([^()\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
WORD = re.compile(r"(?<![\w./~$-])[\w.][\w.*{},/-]*")
SOURCE = re.compile(r"\.(cpp|h|py|sh|md|tpl|cmake)$")
CAPITALS = re.compile(r"\b[A-Z]{2,}(?=_|\b)")
FENCE = re.compile(r"^\s*```")


def headings(text: str) -> set[str]:
    """The anchors of a document, as GitHub makes them of its headings."""
    anchors: set[str] = set()
    for line in text.splitlines():
        if match := re.match(r"#+\s+(.*)", line):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match[1]).strip().lower()
            anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            number = sum(re.fullmatch(re.escape(anchor) + r"(-\d+)?", other) is not None for other in anchors)
            anchors.add(f"{anchor}-{number}" if number else anchor)
    return anchors


def alternatives(path: str) -> Iterator[str]:
    """The paths that braces stand for."""
    parts = [part[1:-1].split(",") if part.startswith("{") else [part] for part in re.split(r"(\{[^}]*\})", path)]
    return ("".join(chosen) for chosen in product(*parts))


class Tree:
    def __init__(self, root: Path) -> None:
        self.root = root
        inside = (path for path in root.rglob("*") if SKIPPED.isdisjoint(path.relative_to(root).parts))
        self.paths = {path.relative_to(root).as_posix(): path for path in sorted(inside)}
        self.names = {path.name for path in self.paths.values()}

    def documents(self) -> Iterator[tuple[str, Path]]:
        for name, path in self.paths.items():
            if name.endswith(".md") and not any(name.startswith(folder + "/") for folder in QUOTED):
                yield name, path

    def has(self, path: str) -> bool:
        """True if there is a file or folder of that path, for each alternative."""
        pattern = CAPITALS.sub("*", path.rstrip("/"))
        return all(one in self.paths or "*" in one and any(self.root.glob(one)) for one in alternatives(pattern))

    def missing_link(self, document: Path, target: str) -> bool:
        """A link to a file, and to a heading where it names one; one to another server is not asked."""
        if re.match(r"\w+:", target):
            return False
        file, _, anchor = target.partition("#")
        path = (document.parent / file).resolve() if file else document
        if not path.exists():
            return True
        return bool(anchor) and path.suffix == ".md" and anchor not in headings(path.read_text())

    def missing_paths(self, line: str, is_code: bool) -> Iterator[str]:
        """The paths that a line names; `is_code`: it stands in a block of code."""
        for match in WORD.finditer(re.sub(r"\w+://\S+|\]\([^)]*\)", " ", line)):
            path = match[0].rstrip(".,")
            first, slash, _ = path.partition("/")
            if slash and first in TREE and not self.has(path):
                yield path
            elif slash and SOURCE.search(path) and f"src/{first}" in self.paths and first not in TREE:
                if not any(known.endswith("/" + path) for known in self.paths):
                    yield path
        for code in [] if is_code else CODE.findall(line):
            if SOURCE.search(code) and re.fullmatch(r"[\w.-]+", code) and code.lstrip(".") != code.rpartition(".")[2]:
                if code not in self.names | ELSEWHERE and not CAPITALS.search(code):
                    yield code


def problems_of(tree: Tree, name: str, document: Path) -> Iterator[str]:
    is_code = False
    for number, line in enumerate(document.read_text().splitlines(), 1):
        is_code ^= FENCE.match(line) is not None
        for target in [] if is_code else LINK.findall(CODE.sub(" ", line)):
            if tree.missing_link(document, target):
                yield f"{name}:{number}: links to {target}, which is not there"
        for path in [] if name in HISTORY else tree.missing_paths(line, is_code):
            yield f"{name}:{number}: names {path}, which is not there"


def main() -> int:
    tree = Tree(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    documents = list(tree.documents())
    problems = [problem for name, path in documents for problem in problems_of(tree, name, path)]
    for problem in problems:
        print(problem)
    print(f"{len(documents)} documents, {len(problems)} names of what is not there")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
