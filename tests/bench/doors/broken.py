"""Five models in which Dynamo breaks the graph, and what backend="repro_minify" is told with each."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import hearts
from hosts import Tower, led_in, led_out

RELU = "cpp.inject_relu_bug_TESTING_ONLY=accuracy"


class Router(nn.Module):
    """Goes by its numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = Tower(), Tower()

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(x * 2)
        if y.sum() > 0:
            return self.left(y) + 1
        return self.right(y) - 1


class Printing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Tower(), Tower()

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        torch._dynamo.graph_break()
        x = torch.cos(x * 3)
        torch._dynamo.graph_break()
        return self.second(x)


class Training(nn.Module):
    """With gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.tanh(self.first(x))
        torch._dynamo.graph_break()
        return torch.softmax(self.second(x), -1)


class Thousands(nn.Module):
    """TorchInductor rounds the second of its three graphs wrongly."""

    def __init__(self) -> None:
        super().__init__()
        self.tower = Tower()

    def forward(self, w: Tensor, x: Tensor) -> Tensor:
        w = self.tower(w)
        torch._dynamo.graph_break()
        z = led_out(hearts.rounded(led_in(x * 2) / 2)) + w.sin().sum()
        torch._dynamo.graph_break()
        return torch.tanh(z / 1000) + w.sum()


class Relu(nn.Module):
    """The relu of the second graph is wrong by PyTorch's own injected bug."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.sigmoid(self.norm(x)) * 2
        torch._dynamo.graph_break()
        x = torch.softmax(torch.relu(self.linear(x)) + x.cos(), -1)
        torch._dynamo.graph_break()
        return x * 3 - 1


class Broken(NamedTuple):
    make: Callable[[], nn.Module]
    inputs: tuple[Tensor, ...]
    fails: int | None  # the number of the graph that is to fail
    grad: bool = False
    options: dict[str, Any] = {}


def models() -> dict[str, Broken]:
    w = torch.randn(4, 8)
    return {
        "router": Broken(Router, (w,), None),
        "printing": Broken(Printing, (w,), None),
        "training": Broken(Training, (w,), None, grad=True),
        "thousands": Broken(Thousands, (w, hearts.THOUSANDS), 2),
        "relu": Broken(Relu, (w,), 2, options={"inductor_config": [RELU]}),
    }
