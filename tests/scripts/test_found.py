"""docs/found.md: each row of its table has a program, and each program is Python that needs torch alone."""

import ast
import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "found.md").read_text()
ROWS = re.findall(r"^\| \[(.*?)\]", TEXT, re.M)
PROGRAMS = dict(re.findall(r"^### (.*?)\n.*?^```python\n(.*?)^```", TEXT, re.M | re.S))


def test_each_row_has_a_program_and_each_program_a_row() -> None:
    assert ROWS and sorted(ROWS) == sorted(PROGRAMS)


def test_a_program_gives_a_function_and_inputs_and_imports_torch_alone() -> None:
    for name, source in PROGRAMS.items():
        tree = ast.parse(source)
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assigned = {target.id for node in tree.body if isinstance(node, ast.Assign)
                    for target in node.targets if isinstance(target, ast.Name)}  # fmt: skip
        assert imported == {"torch"} and {"f", "inputs"} <= assigned, name


def test_each_row_has_versions_and_what_the_preflight_says() -> None:
    for row in re.findall(r"^\| \[.*$", TEXT, re.M):
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert len(cells) == 5 and all(cells), row
