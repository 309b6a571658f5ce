#!/usr/bin/env python3
"""A model of about N graph nodes, traced, with one real failure inside: failing.pt and inputs.pt in FOLDER.

    make.py FOLDER --nodes 30000

A residual network of small blocks (linear, batch norm, relu, a convolution over a view, a gate, a sum), with parameters
of a few numbers each: what takes time is the number of nodes. In its middle it adds up two masks, which the profiling
executor's peephole pass gets wrong (as in fixtures/cases/big_jit_bool_mask): `--backend jit`.
"""

import argparse
import sys
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "fixtures" / "cases" / "_lib"))
from case_lib import save_without_debug_records

NODES_A_BLOCK = 38.5  # of the inlined graph, reads of attributes included
WIDTH = 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.BatchNorm1d(WIDTH)
        self.conv = nn.Conv1d(1, 1, 3, padding=1)
        self.layer_norm = nn.LayerNorm(WIDTH)
        self.gate = nn.Parameter(torch.rand(WIDTH))

    def forward(self, x):
        y = F.relu(self.norm(self.linear(x)))
        y = self.conv(y.view(-1, 1, WIDTH)).view(-1, WIDTH)
        y = torch.sigmoid(y * self.gate) * torch.tanh(y).abs().neg()
        return self.layer_norm(x + 0.1 * y)


class Net(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.before = nn.Sequential(*(Block() for _ in range(blocks // 2)))
        self.after = nn.Sequential(*(Block() for _ in range(blocks - blocks // 2)))

    def forward(self, x):
        x = self.before(x)
        step = (x > 0) * 1 + (x > -0.5) * 1  # 0, 1 or 2
        return self.after(x) + torch.cumsum(step, 1)


def make(folder, nodes):
    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    model = Net(max(2, round(nodes / NODES_A_BLOCK))).eval()
    inputs = [torch.randn(3, WIDTH)]
    with torch.no_grad():
        traced = torch.jit.trace(model, inputs, check_trace=False)
    save_without_debug_records(traced, folder / "failing.pt")
    torch.save(inputs, folder / "inputs.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=30000)
    options = parser.parse_args()
    make(options.folder, options.nodes)
