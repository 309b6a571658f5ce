"""Tests of scripts/check_words.py: which comments it refuses."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_words.py"


def lines_found(root: Path, name: str, text: str) -> list[int]:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    process = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
    found = [int(line.split(":")[1]) for line in process.stdout.splitlines()[:-1]]
    assert process.returncode == (1 if found else 0), process.stderr
    return found


FRAGMENTS = ["What it holds.", "Of the table.", "Likewise.", "As above.", "By name.", "Beside it.", "Whether it fails."]


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_comment_that_begins_with_a_fragment_is_refused(tmp_path: Path, fragment: str) -> None:
    assert lines_found(tmp_path, "src/a.cpp", f"int a;\n/// {fragment}\nint b; ///< {fragment}\n") == [2, 3]
    assert lines_found(tmp_path, "src/a.cpp", "int a;\n") == []
    assert lines_found(tmp_path, "src/b.py", f'"""{fragment}"""\n# {fragment}\na = 1\n') == [2, 1]


def test_the_first_line_of_a_comment_alone_is_looked_at(tmp_path: Path) -> None:
    assert lines_found(tmp_path, "src/a.cpp", "// The name\n// Of a function.\nint a;\n") == []


def test_a_word_that_names_no_one_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    header = "// The memory that\n// nobody wrote.\n\n// Something else.\n"
    assert lines_found(tmp_path / "one", "include/a.h", header) == [1]
    assert lines_found(tmp_path / "two", "docs/a.md", "A sentence.\n\nWhoever calls it.\n\n```\nnobody\n```\n") == [3]


def test_a_text_in_quotes_is_no_comment(tmp_path: Path) -> None:
    text = 'auto a = "// What";\nauto b = R"(\n// What\n)";\nchar c = \'"\'; // The mark.\n'
    assert lines_found(tmp_path, "src/a.cpp", text) == []
    assert lines_found(tmp_path, "src/a.py", 'a = "# What"\n') == []
