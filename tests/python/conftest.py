"""Tests of the package as it is installed (scripts/test_python.sh), or from the clone with REPRO_MINIFY_PROGRAM."""

import sys
from pathlib import Path

import pytest
import torch
from models import FrozenWrong


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test writes where it may."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    return tmp_path


@pytest.fixture(scope="session")
def fake_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """fake_program.py, started without the modules of this environment: it needs none, and is started often."""
    made = tmp_path_factory.mktemp("fake") / "repro-minify"
    script = Path(__file__).with_name("fake_program.py")
    made.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{script}" "$@"\n')
    made.chmod(0o755)
    return made


@pytest.fixture
def wrong() -> torch.nn.Module:
    """torch::jit::freeze gets it wrong."""
    return FrozenWrong().eval()
