"""judge_repro.py CHECK.PY REDUCED.PT INPUTS.PT BACKEND: exits 3 if INPUTS.PT is no tuple, else as CHECK.PY does."""

import runpy
import sys

import torch

if __name__ == "__main__":
    inputs = torch.load(sys.argv[3], weights_only=True)
    if type(inputs) is not tuple:
        print(f"inputs.pt holds a {type(inputs).__name__}, not a tuple")
        sys.exit(3)
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
