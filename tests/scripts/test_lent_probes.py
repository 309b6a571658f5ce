"""Tests of src/backends/inductor/lent_probes.py, which lends repro.py what PyTorch found out about the processor."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "src" / "backends" / "inductor"


@pytest.fixture
def lend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path, Path], None]]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield import_module("lent_probes").lend
    for name in ("lent_probes", "kept_headers"):
        sys.modules.pop(name, None)


def write(folder: Path, name: str, library: bytes = b"library") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.cpp").write_text("int main() {}\n")
    (folder / f"{name}.so").write_bytes(library)
    return folder / f"{name}.so"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_text_and_library_lie_where_pytorch_looks(lend: Callable[[Path, Path], None], tmp_path: Path) -> None:
    write(tmp_path / "kept" / "ab", "cab1")
    write(tmp_path / "kept" / "headers", "not_a_probe")
    lend(tmp_path / "kept", tmp_path / "lent")
    assert files(tmp_path / "lent") == {"ab/cab1.cpp", "ab/cab1.so"}
    assert (tmp_path / "lent" / "ab").stat().st_mode & 0o77 == 0


def test_what_is_kept_stays_as_it_is(lend: Callable[[Path, Path], None], tmp_path: Path) -> None:
    kept = write(tmp_path / "kept" / "ab", "cab1")
    lend(tmp_path / "kept", tmp_path / "lent")
    (tmp_path / "lent" / "ab" / "cab1.so").write_bytes(b"another")
    assert kept.read_bytes() == b"library"
    lend(tmp_path / "kept", tmp_path / "lent")  # what is there is left
    assert (tmp_path / "lent" / "ab" / "cab1.so").read_bytes() == b"another"


def test_what_others_may_write_is_not_lent(lend: Callable[[Path, Path], None], tmp_path: Path) -> None:
    write(tmp_path / "kept" / "ab", "cab1").chmod(0o666)
    elsewhere = write(tmp_path / "elsewhere", "cab2")
    (tmp_path / "kept" / "ab" / "cab2.so").symlink_to(elsewhere)
    lend(tmp_path / "kept", tmp_path / "lent")
    assert not [name for name in files(tmp_path / "lent") if name.endswith(".so")]


def test_no_room_and_nothing_kept_are_no_error(lend: Callable[[Path, Path], None], tmp_path: Path) -> None:
    lend(tmp_path / "none", tmp_path / "lent")
    write(tmp_path / "kept" / "ab", "cab1")
    (tmp_path / "file").write_text("in the way")
    lend(tmp_path / "kept", tmp_path / "file")
    assert not (tmp_path / "lent").exists()
