"""The top level holds what is listed here and no more: what a command leaves there is not committed unseen."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = {".ci", ".github", "docs", "fixtures", "include", "scripts", "src", "tests"}
FILES = {
    ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md",
    "CITATION.cff", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md",
    "pyproject.toml",
}  # fmt: skip


def test_nothing_else_is_committed_at_the_top_level() -> None:
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    committed = [Path(name) for name in listed.split("\0") if name]
    assert {path.parts[0] for path in committed if len(path.parts) > 1} == FOLDERS
    assert {path.name for path in committed if len(path.parts) == 1} == FILES
