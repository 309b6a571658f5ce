#!/usr/bin/env python3
"""A model that ONNX Runtime gets wrong, written to FOLDER as failing.pt and inputs.pt.

A small transformer over windows of sensor readings. The norm before its head divides by the root of the fourth central
moment, so that heavy tails count more than in a layer norm. onnxruntime 1.31.1 takes it for a layer norm all the same:
its LayerNormFusion looks at everything but the exponent.
"""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn


class TailNorm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        centred = x - x.mean(dim=-1, keepdim=True)
        fourth_moment = centred.pow(4).mean(dim=-1, keepdim=True)
        return centred / torch.sqrt(fourth_moment + 1e-5) * self.weight + self.bias


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mixing = nn.LayerNorm(width), nn.LayerNorm(width)
        self.to_qkv, self.from_heads = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mix = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.size(0), x.size(1), x.size(2)
        qkv = self.to_qkv(self.before_attention(x)).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        attention = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / (width // self.heads) ** 0.5, dim=-1)
        x = x + self.from_heads(torch.matmul(attention, v).transpose(1, 2).reshape(batch, length, width))
        return x + self.mix(self.before_mixing(x))


class Readings(nn.Module):
    def __init__(self, sensors: int = 6, width: int = 16, heads: int = 4):
        super().__init__()
        self.patches = nn.Conv1d(sensors, width, kernel_size=4, stride=4)
        self.position = nn.Parameter(torch.randn(8, width) * 0.1)
        self.blocks = nn.Sequential(Block(width, heads), Block(width, heads))
        self.norm = TailNorm(width)
        self.head = nn.Linear(width, 3)

    def forward(self, readings: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(readings).transpose(1, 2) + self.position
        pooled = self.norm(self.blocks(tokens)).mean(dim=1)
        return F.log_softmax(self.head(pooled), dim=-1)


torch.manual_seed(0)
folder = Path(sys.argv[1])
torch.jit.save(torch.jit.script(Readings().eval()), folder / "failing.pt")
torch.save([torch.randn(2, 6, 32)], folder / "inputs.pt")
