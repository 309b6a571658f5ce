"""Operators of usual models that stand around a failure and have no part in it."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def led_in(x: Tensor) -> Tensor:
    """Moves numbers about, and leaves each as it is, and side by side: some failures are of vectors alone."""
    both = torch.cat([x, x]).reshape(2, *x.shape)
    return both[1].clone()


def led_out(z: Tensor) -> Tensor:
    """Applies operators after which a wrong value is still wrong."""
    z = z.float() * 0.25
    both = torch.stack([z, z + 1])
    return both.sum(0) / 3 - 0.5


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.linear, self.gate = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        return (x + F.relu(self.linear(y)) * torch.sigmoid(self.gate(y))) / 1.5


class Tower(nn.Module):
    """Three blocks and a softmax."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Block(width), Block(width), Block(width))

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.blocks(x), -1)


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels)
        self.second, self.second_norm = nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(x + self.second_norm(self.second(y)))


class Images(nn.Module):
    """A small residual net, up to its last feature map."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = nn.Sequential(Residual(channels), Residual(channels))

    def forward(self, x: Tensor) -> Tensor:
        return F.max_pool2d(self.blocks(F.relu(self.stem(x))), 2)


class Beside(nn.Module):
    """A heart, led in and out, beside a tower."""

    def __init__(self, heart: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.heart, self.tower = heart, Tower()

    def forward(self, w: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.tower(w), led_out(self.heart(led_in(x)))
