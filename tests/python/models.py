"""Modules that several tests use."""

from typing import Any

import torch


class FrozenWrong(torch.nn.Module):
    """Under `freeze`, which folds the batch norm over the wrong axis where the input has three dimensions."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.norm = torch.nn.BatchNorm1d(2)
        assert self.norm.running_var is not None
        self.norm.running_var.copy_(torch.tensor([1.0, 4.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.norm(self.linear(x))
        return torch.relu(y) + y


INPUT = torch.linspace(-1, 1, 12).reshape(2, 2, 3)
# Inductor's decomposition of sinh overflows here, and eager does not (fixtures/cases/inductor_183763_sinh_overflow).
OVERFLOWS = torch.tensor([89.0, -89.0, 88.8] * 8)


class Doubled(torch.autograd.Function):
    """Its backward is Python: with gradients TorchScript has no form for it."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        return grads[0] * 2


def doubled(x: torch.Tensor) -> torch.Tensor:
    return Doubled.apply(x)
