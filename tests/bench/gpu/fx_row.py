#!/usr/bin/env python3
"""Reduces one function of programs.py from Python: fx_row.py NAME DEVICE OUTPUT [KEY=VALUE ...]. NAME.pt2 is what
torch.export makes of it, saved on the CPU. Each KEY=VALUE is an option of minify(). Exit code 0 if it was reduced, 1 if
it does not fail, 2 if it was refused; the sentence goes to standard error."""

import ast
import sys
from pathlib import Path
from typing import Any

import torch
from programs import PROGRAMS

import repro_minify


class Module(torch.nn.Module):
    """A function as torch.export wants it."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def saved(name: str, beside: str) -> str:
    function, inputs_on = PROGRAMS[name.removesuffix(".pt2")]
    file = Path(beside).with_suffix(".saved.pt2")
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.export.save(torch.export.export(Module(function), inputs_on("cpu")), file)
    return str(file)


def main() -> int:
    name, device, output, *given = sys.argv[1:]
    options: Any = {key: ast.literal_eval(value) for key, _, value in (word.partition("=") for word in given)}
    options |= {"output": output}
    try:
        if name.endswith(".pt2"):
            repro_minify.minify(saved(name, output), None, "inductor", device=device, autocast=False, **options)
        else:
            function, inputs_on = PROGRAMS[name]
            repro_minify.minify(function, inputs_on(device), "inductor", **options)
    except repro_minify.DoesNotFail as error:
        print(error, file=sys.stderr)
        return 1
    except repro_minify.ReproMinifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
