"""Functions that PyTorch 2.13.0 gets wrong: each is the heart of a model whose other operators have no part in it.

Those of TorchInductor are of docs/found.md, the others of fixtures/cases. Beside each stands what it has to be given.
"""

import torch
from torch import Tensor


def rounded(x: Tensor) -> Tensor:
    return torch.round(x, decimals=-3)


def all_of_none(x: Tensor) -> Tensor:
    return torch.all(x > 0, ())


def smallest(x: Tensor) -> Tensor:
    return torch.abs(x) > 0


def remainder(x: Tensor) -> Tensor:
    return torch.remainder(x, float("inf"))


def tenths(x: Tensor) -> Tensor:
    return torch.floor_divide(x, torch.full_like(x, 0.1))


def atanh(x: Tensor) -> Tensor:
    return torch.atanh(x) / x


def erf(x: Tensor) -> Tensor:
    return torch.erf(x) / x


def least_byte(x: Tensor) -> Tensor:
    """Returns the minimum of uint8 in each row: TorchInductor starts from 0."""
    q = torch.clamp(x * 20.0 + 90.0, 1.0, 255.0).to(torch.uint8)
    return torch.amin(q.reshape(q.shape[0], -1), 1).float()


def halves(x: Tensor) -> Tensor:
    """Under NNC: to the next even number, or away from zero."""
    return torch.round(x) * 2


def quotient(x: Tensor) -> Tensor:
    """Under Static Runtime: of integers, kept as integers."""
    return x * 2 / (x + 3)


THOUSANDS = torch.tensor([90500.0, 12500.0, -90500.0, 3.0] * 8)
SIGNS = torch.tensor([1.0, -1.0, 2.0, 0.5] * 8)
SHORTS = torch.tensor([-32768, 5, 0, 7] * 8, dtype=torch.int16)
USUAL = torch.full((32,), 5.5)
ONES = torch.ones(32)
SMALL = torch.full((32,), 1e-8)
HALVES = torch.tensor([0.5, 1.5, 2.5, -0.5] * 8)
WHOLE = torch.arange(1, 33)
