#!/usr/bin/env python3
"""Real architectures as TorchScript with random weights: NAME/model.pt and NAME/inputs.pt in a folder.

    pip install torch==2.13.0 "torchvision<0.29" timm transformers      (in a virtual environment of its own)
    make.py -o FOLDER [NAME ...]          all but those that are there already, or the named ones again
    make.py --list

Nothing is downloaded. Configurations are small where their family lets one choose; seeds are fixed.
"""

import argparse
import fnmatch
import gc
import os
import sys
import time
import warnings
from pathlib import Path

import torch

import plain_models
import timm_models
import torchvision_models
import transformers_models

FAMILIES = [torchvision_models, plain_models, transformers_models, timm_models]


def models():
    """{name: function that makes Model}, those that others are compared by first."""
    return {name: make for family in FAMILIES for name, make in family.models().items()}


def save(name, make, folder):
    torch.manual_seed(0)
    begin = time.time()
    model = make()
    script = model.script()
    folder.mkdir(parents=True, exist_ok=True)
    script.save(str(folder / "half_written.pt"))
    (folder / "half_written.pt").rename(folder / "model.pt")
    torch.save(list(model.inputs), folder / "inputs.pt")
    size = os.path.getsize(folder / "model.pt") / 1e6
    print(f"{name:34} {model.how:6} {size:7.1f} MB {time.time() - begin:5.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="the folder that gets one folder for each model")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("names", nargs="*", metavar="NAME", help="patterns as the shell has them; none: every model")
    arguments = parser.parse_args()
    known = models()
    if arguments.list:
        print("\n".join(known))
        return 0
    if not arguments.output:
        parser.error("-o FOLDER is missing")
    wanted = [n for n in known if not arguments.names or any(fnmatch.fnmatch(n, p) for p in arguments.names)]
    if not wanted:
        parser.error("no model is called so; --list prints the names")
    warnings.filterwarnings("ignore")
    failed = []
    for name in wanted:
        if not arguments.names and (arguments.output / name / "inputs.pt").exists():
            continue
        try:
            save(name, known[name], arguments.output / name)
        except Exception as error:  # an architecture that this version cannot trace is said, and the others are made
            failed.append(name)
            sentence = " ".join(str(error).split())[:200]
            print(f"{name:34} NOT MADE: {type(error).__name__}: {sentence}", flush=True)
        gc.collect()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
