"""docs/notes/search.md has every named constant of src/reduce and src/check, with its value."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"(?:double|(?:std::)?(?:size_t|u?int\d+_t|chrono::milliseconds)|int)"
CONSTANT = re.compile(rf"\bconstexpr {NUMBER} (\w+)(?: = ([^;]+)|\{{([^;]+)\}});")
ROW = re.compile(r"\| `(\w+)` \| (\S+) \| `([^`]+)` \|")
# Marks, and numbers that are not amounts; the note names them.
NO_AMOUNTS = {"settled_alone", "format", "usual_perturbation"}


def constants() -> set[tuple[str, str, str]]:
    found = set()
    for folder in ("reduce", "check"):
        for path in sorted((ROOT / "src" / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                for name, value, braced in CONSTANT.findall(path.read_text()):
                    found.add((name, path.relative_to(ROOT / "src").as_posix(), value or braced))
    return {row for row in found if row[0] not in NO_AMOUNTS and not row[2].startswith("static_cast")}


def test_the_table_is_what_the_source_says() -> None:
    rows = set(ROW.findall((ROOT / "docs" / "notes" / "search.md").read_text()))
    known = constants()
    assert len(known) > 70
    assert rows == known
