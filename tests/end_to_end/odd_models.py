"""odd_models.py LIBRARY FOLDER: models with the operators of odd_operators.cpp. In beside.pt and beside.pt2 something
else fails under freeze, in itself.pt an operator does under jit, as its schema is wrong."""

import sys
from pathlib import Path

import torch
from torch import nn


class Beside(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.norm.running_mean = torch.tensor([1.0, 2.0, 3.0, 4.0])
        self.norm.running_var = torch.tensor([1.0, 5.0, 9.0, 16.0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.ops.odd.scale(x, 2.0)
        return torch.ops.odd.scale(self.norm(self.linear(y)), 0.5).relu()


class Itself(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.sin() + 1
        return (torch.ops.odd.halve(y) * 3).relu() + torch.ops.odd.halve(y).cos()


def main() -> None:
    library, folder = sys.argv[1], Path(sys.argv[2])
    torch.ops.load_library(library)
    torch.manual_seed(0)
    beside, x = Beside().eval(), torch.randn(2, 4, 4)
    inputs = {"inputs.pt": b""}
    for name, script, given in (
        ("beside", torch.jit.trace(beside, x), x),
        ("itself", torch.jit.script(Itself()), torch.randn(3)),
    ):
        torch.save((given,), folder / "given.pt")
        inputs["inputs.pt"] = (folder / "given.pt").read_bytes()  # inside, where the tool looks for them
        torch.jit.save(script, folder / f"{name}.pt", _extra_files=inputs)
    torch.export.save(torch.export.export(beside, (x,)), folder / "beside.pt2")


if __name__ == "__main__":
    main()
