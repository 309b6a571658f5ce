"""repro_minify.testing, as a test of a user's has it."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from models import INPUT
from repro_minify import BadInput
from repro_minify.testing import assert_compiled_same


def test_what_agrees_passes_silently(work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert_compiled_same(torch.nn.Linear(3, 2), INPUT, "freeze")
    assert capfd.readouterr() == ("", "") and list(work.iterdir()) == []


def test_what_cannot_be_checked_does_not_pass() -> None:
    with pytest.raises(BadInput, match="unknown backend"):
        assert_compiled_same(torch.nn.Linear(3, 2), INPUT, "nonsense")


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_what_differs_fails_with_its_repro_under_pytest(work: Path) -> None:
    (work / "test_of_user.py").write_text(
        "import torch\nfrom models import INPUT, FrozenWrong\nfrom repro_minify.testing import assert_compiled_same\n"
        "def test_right(): assert_compiled_same(torch.nn.Linear(3, 2), INPUT, 'freeze')\n"
        "def test_wrong(): assert_compiled_same(FrozenWrong().eval(), INPUT, 'freeze', output='bug', no_verify=True)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_of_user.py"]
    command += ["-o", f"pythonpath={Path(__file__).parent}", "--rootdir=."]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1 and "1 failed, 1 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "The same in bug/repro.cpp:" in ended.stdout and "minifying.py" not in ended.stdout
    assert "torch.batch_norm" in ended.stdout and "RMSE" in ended.stdout and (work / "bug" / "repro.cpp").is_file()
