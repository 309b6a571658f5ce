"""A browser, and a reduction to look at."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opened import CASES, PROGRAM, Browser, has_program, make_models, run


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if not shutil.which("chromium"):
        pytest.skip("needs Debian's chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def browser(chromium: Any) -> Iterator[Browser]:
    yield Browser(chromium)
    # The browser serves all tests of the session: what this test has opened in it is closed here.
    for context in chromium.contexts:
        context.close()


@pytest.fixture(scope="session")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reduction of the README's transformer."""
    if not has_program():
        pytest.skip(f"needs {PROGRAM}: build it first, or name it in REPRO_MINIFY_PROGRAM")
    folder = tmp_path_factory.mktemp("transformer") / "repro"
    model = CASES / "big_freeze_linear_bn_3d" / "failing.pt"
    run(str(model), "--backend", "freeze", "-q", "--no-verify", "-o", str(folder), code=0)
    return folder


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = make_models(tmp_path_factory.mktemp("models"))
    return made
