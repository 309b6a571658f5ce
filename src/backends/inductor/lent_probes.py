"""Lends what PyTorch has found out about the processor to the interpreters that run a repro.py.

Each of them would compile the same libraries to ask the same questions, which takes five seconds. They look in the
temporary folder that this process has in common with them; a copy lies there, so that they never write what is kept.
"""

import contextlib
import os
from pathlib import Path

import kept_headers


def lend(kept: Path, lent: Path) -> None:
    """Copies the libraries in `kept` to `lent`, PyTorch's own folder of kernels. If that fails, they are made anew."""
    with contextlib.suppress(OSError):
        for library in sorted(kept.glob("??/*.so")):
            folder = lent / library.parent.name
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for file in (library.with_suffix(".cpp"), library):
                if kept_headers.is_ours(file) and not os.path.lexists(folder / file.name):
                    kept_headers.copy_whole(file, folder / file.name)
