"""Tests of the package as it is installed (scripts/test_python.sh), or from the clone with REPRO_MINIFY_PROGRAM."""

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


@pytest.fixture
def wrong() -> torch.nn.Module:
    """torch::jit::freeze gets it wrong."""
    return FrozenWrong().eval()
