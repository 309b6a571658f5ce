#!/usr/bin/env python3
"""Measures the memory that a check takes, for models that are little more than their parameters.

    memory.py --binary build/release/repro-minify --work FOLDER [--sizes 50,130] [--backends freeze,jit] [--grad]

Two kinds of model for each size (MB of parameters): linear layers, and convolutions with batch norms. The column
*times* is the peak of all processes together, over the size of the archive; *without LibTorch* is the same above what a
model of one operator takes, as LibTorch itself is a fixed 200 MB or so. Fails on no number.
"""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "real"))

from measured import run  # noqa: E402

MAKE = """
import sys, torch
kind, megabytes, path = sys.argv[1], float(sys.argv[2]), sys.argv[3]
torch.manual_seed(0)
floats = megabytes * 2**20 / 4
if kind == "linear":
    layers, width = 8, int((floats / 8) ** 0.5)
    parts = [m for _ in range(layers) for m in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    shown = torch.randn(4, width)
else:
    layers, width = 8, max(1, int((floats / 8 / 9) ** 0.5))
    parts = [m for _ in range(layers) for m in
             (torch.nn.Conv2d(width, width, 3, padding=1), torch.nn.BatchNorm2d(width), torch.nn.ReLU())]
    shown = torch.randn(1, width, 6, 6)
model = torch.nn.Sequential(*parts).eval()
torch.jit.trace(model, shown).save(path + "/failing.pt")
torch.save((shown,), path + "/inputs.pt")
"""


def made(work, kind, megabytes):
    folder = work / f"{kind}_{megabytes}"
    if not (folder / "inputs.pt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-c", MAKE, kind, str(megabytes), str(folder)], check=True)
    return folder / "failing.pt"


def measure(options, model, backend):
    command = [options.binary, "run", model, "--backend", backend, *(["--grad"] if options.grad else [])]
    return run(command, 900)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sizes", default="50,130,350,530")
    parser.add_argument("--backends", default="freeze,jit,inductor-like")
    parser.add_argument("--grad", action="store_true")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    print("| model | archive MB | backend | exit | seconds | peak MB | times | without LibTorch |")
    print("|---|---|---|---|---|---|---|---|")
    for backend in options.backends.split(","):
        alone = measure(options, made(options.work, "linear", 0.001), backend).peak_mb
        for kind in ("linear", "conv"):
            for size in options.sizes.split(","):
                model = made(options.work, kind, size)
                archive = model.stat().st_size / 2**20
                done = measure(options, model, backend)
                cells = [kind, f"{archive:.0f}", backend, done.code, f"{done.seconds:.0f}", done.peak_mb]
                cells += [f"{done.peak_mb / archive:.1f}", f"{(done.peak_mb - alone) / archive:.1f}"]
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
