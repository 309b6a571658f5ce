"""precompile_headers.py REPRO_MINIFY MODEL CACHE FOLDER

Verifies one repro with XDG_CACHE_HOME=CACHE by each compiler, as a user's first run does, and waits until the headers
that this has precompiled in the background are there. FOLDER then leads to GCC's, for what tests build themselves: with
CPATH=FOLDER, GCC takes them wherever its flags agree. Where none are made (too little memory, no safe place) everything
takes longer, and nothing else changes.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_LOOKS, SECONDS_BETWEEN_LOOKS = 1000, 0.5


def wait_for(headers):
    """Until none is being made."""
    for _ in range(MOST_LOOKS):
        if not headers.is_dir():
            return
        if not any(re.fullmatch(r"[0-9a-f]{32}\.[A-Za-z0-9]{6}", entry.name) for entry in headers.iterdir()):
            return
        time.sleep(SECONDS_BETWEEN_LOOKS)


def verify(binary, model, environment):
    with tempfile.TemporaryDirectory() as work:
        words = [binary, model, "--backend", "static-runtime", "-o", Path(work) / "x.repro", "--no-bisect", "--quiet"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=environment)
    time.sleep(1.0)  # until it has begun
    wait_for(Path(environment["XDG_CACHE_HOME"]) / "repro-minify" / "headers")


def main(binary, model, cache, folder):
    Path(cache).mkdir(parents=True, exist_ok=True)
    folder = Path(folder)
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)  # a tree that was built before headers lay in the cache
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "CPATH": str(folder)}
    for chosen in ({"CXX": "c++"}, {}):  # the tests' own compiler, and the one that the tool prefers
        if shutil.which(chosen.get("CXX", "clang++")):
            verify(binary, model, environment | chosen)
    made = list((Path(cache) / "repro-minify" / "headers").glob("*/torch/script.h.[gp]ch"))
    made.sort(key=lambda file: file.stat().st_mtime, reverse=True)
    print(f"precompiled: {made}")
    for file in made:
        if file.suffix == ".gch":
            folder.symlink_to(file.parents[1])
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
