"""Which lines scripts/check_columns.py takes for too long."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_columns.py"
LONG = "word " * 25


def said_of(folder: Path, **texts: str) -> tuple[int, list[str]]:
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    process = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)
    return process.returncode, process.stdout.splitlines()[:-1]


def test_a_long_line_is_named(tmp_path: Path) -> None:
    assert said_of(tmp_path, a_md="short\n" + LONG, b_py="x") == (1, ["a.md:2: 125 columns"])


def test_columns_are_characters(tmp_path: Path) -> None:
    assert said_of(tmp_path, a_md="ä" * 120) == (0, [])
    assert said_of(tmp_path, a_md="ä" * 121)[0] == 1


def test_what_cannot_be_broken_does_not_count(tmp_path: Path) -> None:
    address = "https://example.org/" + "x" * 120
    assert said_of(tmp_path, a_md=f"| {LONG} |", b_md=f"({address}).", c_py=f"# {address}") == (0, [])
    assert said_of(tmp_path, d_py=f"| {LONG} |", e_md=f"{address} and more")[1] == [
        "d.py:1: 129 columns",
        "e.md:1: 149 columns",
    ]


def test_the_marks_of_a_template_do_not_count(tmp_path: Path) -> None:
    marks = "{{#some_section}}" * 9
    assert said_of(tmp_path, a_tpl=marks + "x" * 120 + marks) == (0, [])
    assert said_of(tmp_path, a_tpl=marks + "x" * 121 + marks) == (1, ["a.tpl:1: 121 columns"])


def test_data_and_what_is_built_do_not_count(tmp_path: Path) -> None:
    assert said_of(tmp_path, a_json=LONG, build__a_md=LONG, fixtures__cases__a_py=LONG) == (0, [])
    assert said_of(tmp_path, fixtures__names__a_py=LONG)[0] == 1
