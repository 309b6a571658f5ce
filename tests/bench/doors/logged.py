#!/usr/bin/env python3
"""A TORCH_TRACE log of five graphs, the fourth of which fails: it calls all() over no dimensions.

`logged.py` is the process that writes it.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import hearts
from hosts import Tower, led_in, led_out


def fourth(x: Tensor) -> Tensor:
    y = torch.softmax(x * 3 + 1, -1) - x.mean(1, keepdim=True)
    return led_out(hearts.all_of_none(led_in(y - 0.1))) + torch.tanh(y) * y.sum()


def compile_five() -> None:
    import torch._inductor.config as inductor_config

    inductor_config.fx_graph_cache = False
    torch.manual_seed(0)
    functions = (Tower(), lambda x: x.sin().cos().sum(), lambda x: (x * 3).exp() - x, fourth, lambda x: x.abs().sqrt())
    with torch.no_grad():
        for i, function in enumerate(functions):
            with contextlib.suppress(Exception):  # Inductor cannot lower the fourth
                torch.compile(function, dynamic=False)(torch.randn(4 + i, 8))


def make(folder: Path) -> list[dict[str, Any]]:
    folder.mkdir(parents=True)
    subprocess.run([sys.executable, __file__], env={**os.environ, "TORCH_TRACE": str(folder)}, check=True)
    log = next(folder.glob("dedicated_log_torch_trace_*"))
    return [{"door": "TORCH_TRACE", "model": "five graphs", "path": str(log), "backend": "inductor"}]


if __name__ == "__main__":
    compile_five()
