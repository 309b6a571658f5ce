#!/usr/bin/env python3
"""check_words.py [FOLDER]: comments and documents are sentences for a reader who has not read the rest. FOLDER is by
default the repository.

Prints each comment of C++ and each comment and docstring of Python that begins as a fragment does (What, Of, Likewise,
As, By, Beside, Whether), and each comment, docstring or line of a document that has a word which names no one (nobody,
whoever, somebody) or nothing in particular (thing).

A comment says first what a thing is, takes, gives or throws, and then why. EXCUSED names the files, with the number of
their comments, where the fragment is the clearest form. Exits with 1 if there is any other.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("src", "include", "tests", "scripts", "docs")
SKIPPED = {"__pycache__", "golden", "corpora", "build", "out"}
FRAGMENT = re.compile(r"(What|Of|Likewise|As|By|Beside|Whether)\b")
VAGUE = re.compile(r"\b(nobody|whoever|somebody|things?)\b", re.IGNORECASE)
# Relative paths, with how many comments in them are excused.
EXCUSED = Counter(
    {
        "scripts/check_words.py": 1,  # it names the words
        "src/backends/inductor/failure.py": 1,  # the function stands in repro.py, whose text documents quote
    }
)


class Comment:
    """A comment: the number of its first line, and its text without the marks."""

    def __init__(self, line: int, text: str) -> None:
        self.line, self.text = line, text.strip()

    def problem(self) -> str | None:
        if match := FRAGMENT.match(self.text):
            return f"begins with {match.group()}"
        if match := VAGUE.search(self.text):
            return f"has the word {match.group()}"
        return None


def joined(lines: list[tuple[int, bool, str]]) -> Iterator[Comment]:
    """Comments of single lines: (number, whether nothing stands before it, text). Those that follow each other alone on
    their lines are one."""
    block: list[str] = []
    begin = previous = -1
    for number, alone, text in lines:
        if alone and block and number == previous + 1:
            block.append(text)
        else:
            if block:
                yield Comment(begin, " ".join(block))
            block, begin = [text], number
        previous = number if alone else -1
    if block:
        yield Comment(begin, " ".join(block))


def comments_of_cpp(text: str) -> Iterator[Comment]:
    """A text in quotes may hold two slashes: quotes are passed over, raw ones too."""
    skipped = r'R"(?P<mark>[^(\s]*)\((?:.|\n)*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![\w\'])\'(?:\\.|[^\'\\\n])+\''
    lines = []
    for match in re.finditer(rf"{skipped}|(?P<comment>//[/!]?<?[^\n]*)", text):
        if comment := match.group("comment"):
            number = text.count("\n", 0, match.start()) + 1
            alone = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
            lines.append((number, alone, re.sub(r"^//[/!]?<?", "", comment).strip()))
    return joined(lines)


def comments_of_python(text: str) -> Iterator[Comment]:
    lines = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            lines.append((token.start[0], not token.line[: token.start[1]].strip(), token.string.lstrip("#").strip()))
    yield from joined(lines)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if said := ast.get_docstring(node):
                yield Comment(node.body[0].lineno, said)


def lines_of_document(text: str) -> Iterator[Comment]:
    """A document may begin a sentence with any word: its words alone are looked at, outside of code."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield Comment(number, "- " + re.sub(r"`[^`]*`", "", line))


READERS = {".cpp": comments_of_cpp, ".h": comments_of_cpp, ".py": comments_of_python, ".md": lines_of_document}


def files(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in READERS and SKIPPED.isdisjoint(path.relative_to(root).parts):
                yield path
    yield from sorted(root.glob("*.md"))


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    count = problems = 0
    for path in files(root):
        name = path.relative_to(root).as_posix()
        excused = EXCUSED[name]
        for comment in READERS[path.suffix](path.read_text()):
            count += 1
            if (problem := comment.problem()) is None:
                continue
            if excused:
                excused -= 1
                continue
            print(f"{name}:{comment.line}: {problem}: {comment.text[:100]}")
            problems += 1
    print(f"{count} comments, {problems} that are no sentences or have vague words")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
