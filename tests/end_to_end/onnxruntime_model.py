#!/usr/bin/env python3
"""A model that ONNX Runtime gets wrong, written to FOLDER as failing.pt and inputs.pt.

Nearest neighbours in a set whose padding is infinitely far away: the distances are clamped from below, and
onnxruntime 1.31.1's Clip, given no upper bound, takes the largest finite number for it, so that infinity becomes that.
"""

import sys
from pathlib import Path

import torch
from torch import nn


class Nearest(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 8))
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, points: torch.Tensor, padding: torch.Tensor):
        embedded = self.norm(self.embed(points).transpose(1, 2)).transpose(1, 2)
        centred = embedded - embedded.mean(dim=1, keepdim=True)
        scale = torch.sqrt(centred.pow(2).mean(dim=-1, keepdim=True) + 1e-5)
        points_there = centred / scale
        products = torch.matmul(points_there, points_there.transpose(1, 2))
        squares = points_there.pow(2).sum(dim=-1)
        distances = squares.unsqueeze(2) + squares.unsqueeze(1) - 2 * products
        distances = distances.masked_fill(padding.unsqueeze(1), float("inf")).clamp(min=0.01)
        nearest, _ = torch.topk(torch.sqrt(distances), 3, dim=-1, largest=False)
        weights = self.head(points_there).sigmoid()
        return nearest * weights, distances * 0.5


torch.manual_seed(0)
folder = Path(sys.argv[1])
points = torch.randn(2, 5, 4)
padding = torch.tensor([[False, False, False, True, True], [False, False, False, False, True]])
torch.jit.save(torch.jit.script(Nearest().eval()), folder / "failing.pt")
torch.save([points, padding], folder / "inputs.pt")
