"""docs/found.md: each row of its table has a program, and each program is Python that needs torch alone. Each row has
an issue.md, which is of that program, and on which every rule holds (issues.py of tests/bench/research/harvest writes
them)."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = ROOT / "tests" / "repro" / "issue_md_rules.py"
TEXT = (ROOT / "docs" / "found.md").read_text()
ROWS = re.findall(r"^\| \[(.*?)\]", TEXT, re.M)
ISSUES = dict(re.findall(r"^\| \[(.*?)\].*\((found/[\w-]+\.md)\) \|$", TEXT, re.M))
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
        assert len(cells) == 7 and all(cells), row


def operators_of(source: str) -> set[str]:
    function = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda))
    nodes = list(ast.walk(function.body))
    called = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    return called or {"add"}


def test_each_row_has_an_issue_of_its_own_and_nothing_else_lies_there() -> None:
    assert sorted(ISSUES) == sorted(ROWS)
    assert sorted(ISSUES.values()) == sorted(f"found/{path.name}" for path in (ROOT / "docs" / "found").iterdir())


@pytest.mark.parametrize("name", ISSUES)
def test_an_issue_is_of_its_failure_was_verified_and_keeps_every_rule(name: str) -> None:
    path = ROOT / "docs" / ISSUES[name]
    title, _, body = path.read_text().partition("\n")
    code = body.partition("```python\n")[2].partition("\n```")[0]
    assert any(f"{operator}(" in code or operator in title for operator in operators_of(PROGRAMS[name]))
    assert "VERIFIED" not in title and "PyTorch version: 2.14.1" in body.partition("### Versions")[2]
    assert not re.search(r"(?<![\w.])/(root|home|tmp|work|Users)\b|https?://", title + body)
    process = subprocess.run([sys.executable, RULES, path], capture_output=True, text=True)
    assert process.returncode == 0, process.stdout
