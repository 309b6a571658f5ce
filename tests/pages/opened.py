"""The real program, and pages of it that are open in a browser."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("REPRO_MINIFY_PROGRAM", ROOT / "build" / "release" / "repro-minify"))
CASES = ROOT / "fixtures" / "cases"


def run(*words: str, code: int, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(PROGRAM), *words], env={**os.environ, **(environment or {})}, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def has_program() -> bool:
    return PROGRAM.is_file()


def torch_python() -> str | None:
    """A Python that has torch, to make models with: the one that the program was built with."""
    has_torch = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"
    for python in (ROOT / "build" / "venv" / "bin" / "python", Path(sys.executable)):
        if python.exists() and subprocess.run([str(python), "-c", has_torch]).returncode == 0:
            return str(python)
    return None


def make_models(folder: Path) -> Path:
    """Those of models.py, each with its inputs.pt in a folder of its own."""
    python = torch_python()
    if python is None:
        pytest.skip("needs a Python with torch, to make the models")
    words = [python, str(Path(__file__).with_name("models.py")), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@dataclass
class Opened:
    """A page in the browser, and what it did there."""

    page: Any
    file: Path
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Nothing was complained of, nothing was asked of anybody, and it does not scroll sideways."""
        assert self.errors == []
        assert self.requests == [self.file.as_uri()]
        root = "document.documentElement"
        assert self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") <= 0


class Browser:
    def __init__(self, chromium: Any) -> None:
        self.chromium = chromium

    def open(self, file: Path, width: int = 1300, **settings: Any) -> Opened:
        page = self.chromium.new_page(viewport={"width": width, "height": 900}, **settings)
        opened = Opened(page, file)
        page.on("pageerror", lambda error: opened.errors.append(str(error)))
        page.on("console", lambda message: opened.errors.append(message.text))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.goto(file.as_uri())
        return opened


def report_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found
