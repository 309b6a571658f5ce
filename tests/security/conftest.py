"""Fixtures of the table of faults: the program, and a library that makes system calls fail."""

import subprocess
from pathlib import Path

import pytest
from troubled import PROGRAM


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="the whole table of faults")


@pytest.fixture(scope="session")
def program() -> Path:
    if not PROGRAM.is_file():
        pytest.skip(f"needs {PROGRAM}: build it first, or name it in REPRO_MINIFY_PROGRAM")
    return Path(PROGRAM)


@pytest.fixture(scope="session")
def failing_calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library for LD_PRELOAD."""
    library = tmp_path_factory.mktemp("preload") / "failing_calls.so"
    source = Path(__file__).with_name("failing_calls.c")
    words = ["cc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([*words, str(source), "-ldl"], check=True)
    return library
