#!/usr/bin/env python3
"""Which failures of docs/found.md does the PyTorch at hand have? Runs each of its programs, eager and compiled.

    PYTHON found.py [--only NAME]

A program is a block of Python there, under a heading: a function `f` and a list `inputs`. Prints "wrong", "right" or
what was raised for each, and what differs.
"""

import argparse
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch

from compared import difference

FOUND = Path(__file__).resolve().parents[4] / "docs" / "found.md"
BLOCK = re.compile(r"^### (?P<name>.*?)\n.*?^```python\n(?P<source>.*?)^```", re.M | re.S)


def programs(text: str) -> Iterator[tuple[str, str]]:
    for found in BLOCK.finditer(text):
        yield found["name"], found["source"]


def answer(source: str) -> str:
    names: dict[str, object] = {}
    exec(source, names)
    function, inputs = names["f"], names["inputs"]
    assert callable(function) and isinstance(inputs, list)
    expected = function(*(value.clone() for value in inputs))
    torch._dynamo.reset()
    try:
        found = torch.compile(function)(*(value.clone() for value in inputs))
    except Exception as error:  # whatever it is, it is the answer
        return f"wrong: {type(error).__name__}"
    why = difference(expected, found)
    return f"wrong: {why}" if why else "right"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the heading")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print(torch.__version__)
    for name, source in programs(FOUND.read_text()):
        if arguments.only in name:
            print(f"{name}: {answer(source)}", flush=True)


if __name__ == "__main__":
    main()
