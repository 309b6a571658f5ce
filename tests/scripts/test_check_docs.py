"""Tests of what scripts/check_docs.py finds missing in documents."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_docs.py"


def said_of(folder: Path, text: str, name: str = "README.md", others: tuple[str, ...] = ()) -> list[str]:
    for other in others:
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        (folder / other).write_text("# A heading\n")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text + "\n")
    process = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)
    said = process.stdout.splitlines()[:-1]
    assert process.returncode == (1 if said else 0), process.stdout + process.stderr
    return said


def test_a_path_that_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    said = said_of(tmp_path, "one\nsee `src/a/b.h` and src/a/c.h.", others=("src/a/c.h",))
    assert said == ["README.md:2: names src/a/b.h, which is not there"]


def test_a_path_may_leave_out_src(tmp_path: Path) -> None:
    others = ("src/program/load.h", "include/own/record.h")
    assert said_of(tmp_path, "`program/load.h`", others=others) == []
    assert said_of(tmp_path, "`program/record.h`", others=others) == [
        "README.md:1: names program/record.h, which is not there"
    ]


def test_a_name_alone_is_that_of_some_file(tmp_path: Path) -> None:
    assert said_of(tmp_path, "`load.h` and `repro.cpp`", others=("src/program/load.h",)) == []
    assert said_of(tmp_path, "`lode.h`") == ["README.md:1: names lode.h, which is not there"]


def test_commands_in_blocks_of_code_are_read(tmp_path: Path) -> None:
    text = "```\nscripts/there.sh x.py\nscripts/gone.sh --out build/tests/x\n```"
    assert said_of(tmp_path, text, others=("scripts/there.sh",)) == [
        "README.md:3: names scripts/gone.sh, which is not there"
    ]


def test_patterns_stand_for_files(tmp_path: Path) -> None:
    others = ("src/a/one.h", "src/a/two.h")
    assert said_of(tmp_path, "`src/a/{one,two}.h`, `src/a/*.h`, `src/a/NAME.h`, `src/a/`", others=others) == []
    assert said_of(tmp_path, "`src/a/{one,three}.h` `src/*.h` `src/b/NAME.h`", others=others) == [
        "README.md:1: names src/a/{one,three}.h, which is not there",
        "README.md:1: names src/*.h, which is not there",
        "README.md:1: names src/b/NAME.h, which is not there",
    ]


def test_links_to_files_and_headings(tmp_path: Path) -> None:
    text = "# Top of it\n[a](other.md#a-heading) [b](#top-of-it) [c](https://x.org/y)\n"
    text += "[two\nlines](other.md#gone) [d](no.md)"
    assert said_of(tmp_path, text, "docs/page.md", others=("docs/other.md",)) == [
        "docs/page.md:4: links to other.md#gone, which is not there",
        "docs/page.md:4: links to no.md, which is not there",
    ]


def test_history_may_name_what_was_there(tmp_path: Path) -> None:
    assert said_of(tmp_path, "`src/a/gone.h`", "CHANGELOG.md") == []
    assert said_of(tmp_path, "[a](gone.md)", "CHANGELOG.md") == ["CHANGELOG.md:1: links to gone.md, which is not there"]
