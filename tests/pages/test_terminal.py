"""Tests of what is drawn on a terminal while the program works, seen by a terminal that is emulated (pyte)."""

import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from opened import CASES, PROGRAM, has_program

pytestmark = pytest.mark.skipif(not has_program(), reason="needs the program: build it, or set REPRO_MINIFY_PROGRAM")
MODEL = str(CASES / "big_freeze_linear_bn_3d" / "failing.pt")
SMALL = str(CASES / "freeze_linear_bn_3d" / "failing.pt")  # where no block has to be seen


@dataclass
class Watched:
    """A run on a terminal: what its screen showed from time to time, and in the end."""

    raw: bytes = b""
    frames: list[str] = field(default_factory=list)
    last: str = ""
    exit_code: int = -1

    def frames_with(self, text: str) -> list[str]:
        return [frame for frame in self.frames if text in frame]


def set_size(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))


def watch(
    folder: Path, *options: str, model: str = MODEL, sizes: tuple[int, ...] = (100,), **environment: str
) -> Watched:
    """Runs it with standard error on a terminal, whose width becomes the next of `sizes` after each few frames."""
    pyte: Any = pytest.importorskip("pyte")
    screen = pyte.HistoryScreen(sizes[0], 40)
    stream = pyte.ByteStream(screen)
    ours, theirs = pty.openpty()
    set_size(ours, sizes[0])
    words = [str(PROGRAM), model, "--backend", "freeze", "--no-verify", "-o", str(folder / "x"), *options]
    settings = {"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
    seen = Watched()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, **settings}) as job:
        os.close(theirs)
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError as error:  # how Linux says that the terminal has no writer any more
                assert error.errno == errno.EIO
                break
            if not part:
                break
            seen.raw += part
            stream.feed(part)
            seen.frames.append("\n".join(screen.display))
            columns = sizes[min(len(seen.frames) // 3, len(sizes) - 1)]
            if columns != screen.columns:
                screen.resize(40, columns)
                set_size(ours, columns)
        seen.exit_code = job.wait(timeout=60)
    os.close(ours)
    seen.last = "\n".join(screen.display)
    return seen


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """With nothing said but what to do."""
    return watch(tmp_path_factory.mktemp("usual"))


def test_a_block_that_is_gone_in_the_end(seen: Watched) -> None:
    assert seen.exit_code == 0
    blocks = seen.frames_with(" -> ")
    assert blocks, seen.raw
    for part in ("reducing failing.pt under freeze (", "147 -> ", " operators ", " checks", "now "):
        assert any(part in block for block in blocks), part
    assert all(block.count("reducing failing.pt") <= 1 for block in seen.frames), "drawn in its own place"
    assert any(bar in block for block in blocks for bar in "▁▂▃▄▅▆▇█")
    for gone in ("reducing failing.pt", "147 -> ", "drawing the page", "now "):
        assert gone not in seen.last, seen.last
    for kept in ("info: failing.pt fails under freeze", "what each pass did", "info: from 147 operators to 2"):
        assert kept in seen.last.replace(MODEL, "failing.pt"), seen.last


ONLY_WITH_ALL = pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")


@pytest.mark.parametrize("sizes", [(100, 30, 12, 100), pytest.param((20, 120, 40), marks=ONLY_WITH_ALL)])
def test_a_window_that_changes_its_size(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    seen = watch(tmp_path, "--no-bisect", sizes=sizes)
    assert seen.exit_code == 0
    heading = re.compile(r"^(reducing|loading|checking|record)", re.MULTILINE)
    assert any(heading.search(frame) for frame in seen.frames)
    assert all(len(heading.findall(frame)) <= 1 for frame in seen.frames), "no block is left behind"
    assert not heading.search(seen.last) and "operators to 2" in seen.last.replace("\n", "")


def test_no_colour_where_it_is_turned_off(seen: Watched, tmp_path: Path) -> None:
    assert b"\x1b[1m" in seen.raw
    plain = watch(tmp_path, "--no-bisect", NO_COLOR="1")
    assert b"\x1b[1m" not in plain.raw and plain.frames_with(" -> "), "no colour, but a block all the same"


def test_in_ascii_where_the_locale_says_so(tmp_path: Path) -> None:
    seen = watch(tmp_path, "--no-bisect", LC_ALL="C")
    assert seen.frames_with(" -> ") and seen.raw.isascii()


def test_quiet(tmp_path: Path) -> None:
    seen = watch(tmp_path, "--no-bisect", "--quiet", model=SMALL)
    assert seen.exit_code == 0 and seen.raw == b""


def test_a_terminal_that_cannot_go_up_has_plain_lines(tmp_path: Path) -> None:
    seen = watch(tmp_path, "--no-bisect", model=SMALL, TERM="dumb")
    assert b"\x1b[" not in seen.raw and b"checks, best so far" in seen.raw


def test_no_terminal_has_plain_lines(tmp_path: Path) -> None:
    words = [str(PROGRAM), SMALL, "--backend", "freeze", "--no-verify", "--no-bisect", "-o", str(tmp_path / "x")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    assert "checks, best so far" in done.stderr and "\x1b" not in done.stderr and "reducing" not in done.stderr
