#!/usr/bin/env python3
"""scripts/tree_figures.py: how large the program is, in a dozen figures. They are printed, and fail nothing."""

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = (".h", ".cpp")
# A definition at namespace level.
TYPE = re.compile(r"^(?:template <[^{;]*>\s*)?(?:class|struct|enum(?: class| struct)?)\s+(?:\w+::)*(\w+)"
                  r"(?:\s+final)?(?:\s*:[^;{]*)?\s*\{", re.M)  # fmt: skip
# A class for work that goes on beside other work.
UNDER_WAY = re.compile(r"^class (?:\w+::)*(\w*(?:UnderWay|Begun|InWriting|InCollection|InMaking|Process|Verifier|"
                       r"Build))\b[^;]*\{", re.M)  # fmt: skip
LONGEST_FILE, LONGEST_FUNCTION = 400, 40


def files_in(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def code_in(*folders: str) -> list[Path]:
    return [path for path in files_in(*folders) if path.suffix in CODE]


def lines_of(paths: Iterable[Path]) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in paths)


def bodies(path: Path) -> Iterable[int]:
    """Lines of each function at namespace or class level, by its braces, which clang-format has put in their place."""
    opened: list[tuple[int, str]] = []
    for number, line in enumerate(path.read_text().splitlines()):
        indent = line[: len(line) - len(line.lstrip())]
        opens = line.rstrip().endswith("{") and re.search(r"\)(?: const| override| noexcept)*(?: ->.*)? \{$", line)
        if opens and len(indent) <= 2 and not re.match(r"\s*(?:if|for|while|switch|else|do)\b|\s*\}", line):
            opened.append((number, indent))
        elif opened and line.startswith(opened[-1][1] + "}"):
            begin, _ = opened.pop()
            yield number - begin + 1


def figures() -> list[tuple[str, int]]:
    code = code_in("src", "include")
    texts = {path: path.read_text() for path in code}
    engine = [path for path in code_in("src/reduce") if "passes" not in path.parts]
    long_bodies = [length for path in code for length in bodies(path) if length > LONGEST_FUNCTION]
    hand_over = re.search(r"^void hand_over\(.*?^\}$", (ROOT / "src/pipeline/hand_over.cpp").read_text(), re.M | re.S)
    text_files = [path for path in files_in("tests") if path.suffix == ".txt" and path.name != "CMakeLists.txt"]
    return [
        ("lines of C++ in src and include", lines_of(code)),
        ("files of C++", len(code)),
        ("types in headers", sum(len(TYPE.findall(text)) for path, text in texts.items() if path.suffix == ".h")),
        ("folders of C++ under src", len({path.parent for path in code_in("src")})),
        ("groups of tasks", sum(len(re.findall(r"TaskGroup \w+[{(;]", text)) for text in texts.values())),
        ("classes for work under way", sum(len(UNDER_WAY.findall(text)) for text in texts.values())),
        ("lines of the engine, without its passes", lines_of(engine)),
        (f"files of more than {LONGEST_FILE} lines", sum(lines_of([path]) > LONGEST_FILE for path in code)),
        (f"functions of more than {LONGEST_FUNCTION} lines", len(long_bodies)),
        ("lines of hand_over()", len(hand_over[0].splitlines()) if hand_over else 0),
        ("lines of text in tests", lines_of(text_files)),
        ("lines of tests in C++", lines_of(code_in("tests"))),
        ("lines of Python", lines_of(path for path in files_in("src", "scripts", "tests") if path.suffix == ".py")),
    ]


def main() -> None:
    for name, figure in figures():
        print(f"{figure:7,} {name}")


if __name__ == "__main__":
    main()
