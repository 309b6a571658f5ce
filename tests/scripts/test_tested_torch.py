"""Which versions of LibTorch are said to be tested: the same wherever they are named."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import versions  # noqa: E402

SCRIPT = """
include({root}/src/tested_torch.cmake)
say_whether_torch_is_tested({folder})
"""


def said_of(folder: Path, version: str) -> str:
    """Returns what is said when the program is configured with a LibTorch of that version."""
    (folder / "TorchConfigVersion.cmake").write_text(f'set(PACKAGE_VERSION "{version}")\n')
    (folder / "say.cmake").write_text(SCRIPT.format(root=ROOT, folder=folder))
    process = subprocess.run(["cmake", "-P", folder / "say.cmake"], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return " ".join(process.stderr.split())


def test_a_version_that_is_not_tested_is_said_at_configure_time(tmp_path: Path) -> None:
    assert "LibTorch 2.16.0 is newer than 2.15" in said_of(tmp_path, "2.16.0")
    assert "LibTorch 2.16.0a0 is newer than 2.15" in said_of(tmp_path, "2.16.0a0")
    assert "LibTorch 2.9.1 is older than 2.12" in said_of(tmp_path, "2.9.1")


def test_one_that_is_tested_is_not_spoken_of(tmp_path: Path) -> None:
    for version in [*versions.VERSIONS, "2.15.3"]:
        assert said_of(tmp_path, version) == ""


def test_the_same_versions_are_named_everywhere() -> None:
    limits = dict(re.findall(r"set\((\w+)_TESTED_TORCH ([\d.]+)\)", (ROOT / "src/tested_torch.cmake").read_text()))
    tested = [version.rpartition(".")[0] for version in versions.VERSIONS]
    assert (limits["OLDEST"], limits["NEWEST"]) == (tested[0], tested[-1])
    row = next(line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| LibTorch"))
    assert sorted(re.findall(r"\b2\.\d+\.\d+\b", row.partition("|")[2].partition("|")[0])) == versions.VERSIONS
    assert " and ".join([", ".join(versions.VERSIONS[:-1]), versions.VERSIONS[-1]]) in (versions.__doc__ or "")
