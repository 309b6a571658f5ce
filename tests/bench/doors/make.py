#!/usr/bin/env python3
"""Makes with PyTorch what users have when a backend fails: a folder for each door, and material.json of all.

    PYTHON make.py OUT [--only DOOR] [--library FILE.so]

PYTHON has the torch that the program was built against. Takes some minutes, nearly all of it torch.compile.
"""

import argparse
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import exported
import leftovers
import logged
import operators
import refused

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "build" / "release" / "tests" / "plugins" / "odd_operators.so"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="exported, leftovers, logged, operators or refused")
    parser.add_argument("--library", type=Path, default=LIBRARY, help="what was built of odd_operators.cpp")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    library: Path = options.library.resolve()
    doors: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
        "exported": exported.make,
        "leftovers": leftovers.make,
        "logged": logged.make,
        "operators": lambda folder: operators.make(folder, library),
        "refused": refused.make,
    }
    out.mkdir(parents=True, exist_ok=True)
    listed = out / "material.json"
    material: dict[str, list[dict[str, Any]]] = json.loads(listed.read_text()) if listed.exists() else {}
    for door, make in doors.items():
        if options.only in ("", door):
            torch.manual_seed(0)
            shutil.rmtree(out / door, ignore_errors=True)
            material[door] = make(out / door)
            listed.write_text(json.dumps(material, indent=1) + "\n")
            print(f"{door}: {len(material[door])}", flush=True)


if __name__ == "__main__":
    main()
