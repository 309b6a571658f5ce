"""Models with the operators of tests/end_to_end/plugins/odd_operators.cpp: one fails beside them, one through one.

The library is what the build makes of that file, tests/plugins/odd_operators.so.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from exported import NormAcross
from hosts import Tower, led_in, led_out


class BesideThem(NormAcross):
    """odd::scale has no part in it."""

    def forward(self, x: Tensor) -> Tensor:
        y = torch.ops.odd.scale(self.tower(x), 2.0)
        return led_out(torch.ops.odd.scale(self.norm(self.linear(y)), 0.5)).tanh()


class ThroughOne(nn.Module):
    """odd::halve writes into its argument, which its schema does not say: the JIT leaves out the second call."""

    def __init__(self) -> None:
        super().__init__()
        self.tower = Tower()

    def forward(self, w: Tensor, x: Tensor) -> Tensor:
        y = led_in(x).sin() + 1
        z = (torch.ops.odd.halve(y) * 3).relu() + torch.ops.odd.halve(y).cos()
        return led_out(z) + self.tower(w).sum()


def make(folder: Path, library: Path) -> list[dict[str, Any]]:
    folder.mkdir(parents=True)
    torch.ops.load_library(str(library))
    beside, x = folder / "beside_them.pt2", torch.randn(2, 8, 8)
    torch.export.save(torch.export.export(BesideThem().eval(), (x,)), beside)
    through, given = folder / "through_one.pt", (torch.randn(4, 8), torch.randn(32))
    torch.jit.save(torch.jit.trace(ThroughOne().eval(), given, check_trace=False), str(through))
    torch.save(given, folder / "inputs.pt")
    options = ["--load-library", str(library)]
    rows: list[dict[str, Any]] = [
        {"door": "custom operators", "model": path.name, "path": str(path), "backend": backend, "options": options}
        for path, backend in ((beside, "freeze"), (through, "jit"))
    ]
    for path, what in ((through, "an operator without its library"), (beside, "the same in a .pt2")):
        rows.append({"door": "refused", "model": what, "path": str(path), "backend": "freeze"})
    return rows
