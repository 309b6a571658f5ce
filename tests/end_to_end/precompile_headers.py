"""precompile_headers.py REPRO_MINIFY MODEL CACHE

Verifies one repro with XDG_CACHE_HOME=CACHE, as a user's first run does, and waits until LibTorch's headers, which this
has precompiled in the background, are there for the tests that follow. Where none are made (too little memory, no safe
place) those take longer, and nothing else changes.
"""

import os
import re
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


def main(binary, model, cache):
    Path(cache).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        words = [binary, model, "--backend", "static-runtime", "-o", Path(work) / "x.repro", "--no-bisect", "--quiet"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": cache})
    time.sleep(1.0)  # until it has begun
    headers = Path(cache) / "repro-minify" / "headers"
    wait_for(headers)
    print(f"precompiled: {list(headers.glob('*/torch/script.h.[gp]ch'))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
