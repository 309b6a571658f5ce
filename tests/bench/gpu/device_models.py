#!/usr/bin/env python3
"""TorchScript models that ask something of a device, and a run beside a process that has the device's memory.

    device_models.py save FOLDER                     writes looked_up.pt, wide.pt and their inputs
    device_models.py crowd MEBIBYTES FROM FOR COMMAND ...
        runs the command; FROM seconds later another process takes all of the device's memory but so much, for FOR
        seconds (0: to the end). The exit code is the command's.
"""

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn


class LookedUp(nn.Module):
    """Rows of a table, by numbers that are in it only after `% 7`: without it a card's kernel asserts, and its context
    is lost. freeze folds the norm over the last axis, where it is over axis 1."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 3), nn.BatchNorm1d(3)
        nn.init.uniform_(self.norm.running_mean, 0.5, 1.5)
        nn.init.uniform_(self.norm.running_var, 0.5, 1.5)

    def forward(self, ids: torch.Tensor, table: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        rows = table[ids % 7]
        y = torch.tanh(x + rows) * torch.sigmoid(rows.amax(-1, keepdim=True))
        return self.norm(self.linear(y))


class Wide(nn.Module):
    """Layers that spend their time on memory, where fusing pays."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(1024, 1024), nn.LayerNorm(1024)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x
        for _ in range(4):
            y = self.norm(torch.nn.functional.gelu(self.linear(y)) * torch.sigmoid(y) + x)
        return torch.softmax(y, -1)


def save(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    examples: dict[str, tuple[nn.Module, tuple[Any, ...]]] = {
        "looked_up": (LookedUp(), (torch.randint(0, 1 << 40, (2, 3)), torch.randn(7, 4), torch.randn(2, 3, 4))),
        "wide": (Wide(), (torch.randn(8192, 1024),)),
    }
    for name, (module, inputs) in examples.items():
        torch.jit.save(torch.jit.trace(module.eval(), inputs), str(folder / f"{name}.pt"))
        torch.save(inputs, folder / f"{name}.inputs.pt")


HOLD = """
import sys, time, torch
leave, seconds = int(sys.argv[1]) << 20, float(sys.argv[2])
free, _ = torch.cuda.mem_get_info()
held = torch.empty(max(free - leave, 0), dtype=torch.uint8, device="cuda")
print("held", flush=True)
time.sleep(seconds or 1e6)
"""


def crowd(mebibytes: str, begin: str, seconds: str, *command: str) -> int:
    def hold() -> subprocess.Popen[str]:
        words = [sys.executable, "-c", HOLD, mebibytes, seconds]
        holder = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert holder.stdout is not None
        holder.stdout.readline()
        return holder

    holders = []
    if float(begin) == 0:
        holders.append(hold())
    else:

        def later() -> None:
            time.sleep(float(begin))
            holders.append(hold())

        threading.Thread(target=later, daemon=True).start()
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    finally:
        for holder in holders:
            holder.kill()


if __name__ == "__main__":
    if sys.argv[1] == "save":
        save(Path(sys.argv[2]))
    else:
        sys.exit(crowd(*sys.argv[2:]))
