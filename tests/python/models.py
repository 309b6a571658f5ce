"""Modules that several tests use."""

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
