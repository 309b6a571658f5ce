"""The precompiled header of TorchInductor that is kept between runs (src/backends/inductor/kept_headers.py)."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "backends" / "inductor" / "kept_headers.py"


@pytest.fixture
def headers() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def write(folder: Path, name: str, compiled: bytes = b"compiled") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.h.gch").write_bytes(compiled)
    return folder / f"{name}.h.gch"


def used(tmp_path: Path, name: str) -> Path:
    (tmp_path / "used").mkdir(exist_ok=True)
    return tmp_path / "used" / f"{name}.h.gch"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_one_run_makes_the_next_has(headers: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "first", "a")
    headers["keep"](tmp_path / "first", tmp_path / "store")
    assert headers["bring"](tmp_path / "store", used(tmp_path, "a"))
    assert used(tmp_path, "a").read_bytes() == b"compiled"
    assert names(tmp_path / "store") == {"a.h.gch"}
    assert not headers["bring"](tmp_path / "store", used(tmp_path, "b"))
    assert names(tmp_path / "used") == {"a.h.gch"}


def test_a_run_works_on_a_copy(headers: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "store", "a")
    assert headers["bring"](tmp_path / "store", used(tmp_path, "a"))
    with open(used(tmp_path, "a"), "r+b") as file:
        file.write(b"changed!")
    headers["keep"](tmp_path / "used", tmp_path / "store")
    assert (tmp_path / "store" / "a.h.gch").read_bytes() == b"compiled"


def test_what_others_may_write_is_not_taken(headers: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "store", "others").chmod(0o666)
    (tmp_path / "store" / "link.h.gch").symlink_to(write(tmp_path / "elsewhere", "link"))
    for name in ("others", "link"):
        assert not headers["bring"](tmp_path / "store", used(tmp_path, name))
    assert names(tmp_path / "used") == set()


def test_no_more_are_kept_than_a_few(headers: dict[str, Any], tmp_path: Path) -> None:
    for age in range(headers["MOST"] + 2):
        write(tmp_path / "store", f"old{age}")
        os.utime(tmp_path / "store" / f"old{age}.h.gch", (1000 - age, 1000 - age))
    assert headers["bring"](tmp_path / "store", used(tmp_path, "old0"))
    write(tmp_path / "used", "new")
    headers["keep"](tmp_path / "used", tmp_path / "store")
    kept = {name for name in names(tmp_path / "store") if name.endswith(".gch")}
    assert kept == {"new.h.gch", *(f"old{age}.h.gch" for age in range(headers["MOST"] - 1))}


def test_without_a_place_to_keep_it_all_goes_on(headers: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    assert not headers["bring"](tmp_path / "store", used(tmp_path, "a"))
    write(tmp_path / "used", "a")
    headers["keep"](tmp_path / "used", tmp_path / "store")
    assert names(tmp_path / "used") == {"a.h.gch"}


WRITES = """
import runpy, sys
kept, own = sys.argv[2:]
open(kept + "/before", "w").close()
runpy.run_path(sys.argv[1])["write_only_into"](own)
open(own + "/after", "w").write("x")
open("/dev/null", "w").write("x")
print(open(kept + "/before").read() == "")
for act in (lambda: open(kept + "/after", "w"), lambda: open(kept + "/before", "w")):
    try:
        act()
    except PermissionError:
        print("refused")
"""


def test_what_is_kept_is_only_read_once_the_worker_is_prepared(tmp_path: Path) -> None:
    landlock = SCRIPT.with_name("landlock.py")
    if runpy.run_path(str(landlock))["libc"].syscall(444, None, 0, 1) < 1:
        pytest.skip("no Landlock here")
    for name in ("kept", "own"):
        (tmp_path / name).mkdir()
    words: list[str | Path] = [sys.executable, "-c", WRITES, landlock, tmp_path / "kept", tmp_path / "own"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "refused", "refused"], done.stderr
