"""precompile_headers.py REPRO_MINIFY MODEL CACHE FOLDER

Verifies one repro with XDG_CACHE_HOME=CACHE, as a user's first run does, and waits until the headers that this has
precompiled in the background are there. FOLDER then leads to them, for what tests build themselves: with CPATH=FOLDER,
GCC takes them wherever its flags agree. Where none are made (too little memory, no safe place) everything takes longer,
and nothing else changes.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LONGEST = 500.0  # s


def wait_for(headers):
    """The newest that is whole; None where none is, and none is being made."""
    end = time.monotonic() + LONGEST
    while headers.is_dir() and time.monotonic() < end:
        names = [entry.name for entry in headers.iterdir()]
        whole = [headers / name for name in names if re.fullmatch("[0-9a-f]{32}", name)]
        if not any(re.fullmatch(r"[0-9a-f]{32}\.[A-Za-z0-9]{6}", name) for name in names):
            return max(whole, key=lambda folder: (folder / "kept").stat().st_mtime, default=None)
        time.sleep(0.5)
    return None


def main(binary, model, cache, folder):
    Path(cache).mkdir(parents=True, exist_ok=True)
    folder = Path(folder)
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)  # a tree that was built before headers lay in the cache
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "CPATH": str(folder)}
    with tempfile.TemporaryDirectory() as work:
        words = [binary, model, "--backend", "static-runtime", "-o", Path(work) / "x.repro", "--no-bisect", "--quiet"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=environment)
    time.sleep(1.0)  # until it has begun
    made = wait_for(Path(cache) / "repro-minify" / "headers")
    print(f"precompiled: {made}")
    if made:
        folder.symlink_to(made)


if __name__ == "__main__":
    main(*sys.argv[1:])
