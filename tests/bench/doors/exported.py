"""Twelve models of torch.export, each with a failure among 20 to 60 operators, and each with another kind of input."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import hearts
from hosts import Beside, Images, Tower, led_in, led_out


class Exported(NamedTuple):
    name: str
    backend: str
    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = {}
    dynamic: Any = None


class Keywords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tower = Tower()

    def forward(self, w: Tensor, *, x: Tensor, shift: Tensor) -> Tensor:
        return led_out(hearts.rounded(led_in(x))).sum() + self.tower(w + shift)


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tower = Tower()

    def forward(self, named: dict[str, Any], pair: list[Tensor]) -> dict[str, Any]:
        y = led_out(hearts.all_of_none(led_in(named["inside"]["x"])))
        return {"a": self.tower(pair[0]) + pair[1], "b": [y, named["w"].sigmoid()]}


class Counter(nn.Module):
    """Counts in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.tower = Tower()
        self.register_buffer("seen", torch.zeros(32))

    def forward(self, w: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        self.seen.add_(hearts.smallest(led_in(x)).float())
        return self.tower(w), led_out(self.seen)


class Constant(Beside):
    """A tensor that is neither parameter nor buffer, and one made in forward."""

    def __init__(self) -> None:
        super().__init__(hearts.remainder)
        self.matrix = torch.arange(64.0).reshape(8, 8) / 64

    def forward(self, w: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return super().forward(w @ self.matrix + torch.tensor([1.0, 2.0] * 4), x)


class Symbolic(Beside):
    """Reads its first dimension, which is any."""

    def __init__(self) -> None:
        super().__init__(hearts.tenths)

    def forward(self, w: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        y, z = super().forward(w, x.reshape(x.shape[0] * 2, -1))
        return y * w.shape[0], z


class Tied(nn.Module):
    """A language model whose last matrix is its first."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.tower, self.last = nn.Embedding(10, 8), Tower(), nn.Linear(8, 10, bias=False)
        self.last.weight = self.embedding.weight

    def forward(self, words: Tensor, x: Tensor) -> Tensor:
        scale = led_out(hearts.atanh(led_in(x))).sum()
        return self.last(self.tower(self.embedding(words))) * scale


class SmallImages(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.images, self.linear = Images(), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.images(x)
        return self.linear(y.mean((2, 3))), led_out(hearts.erf(led_in(x)))


class NormAcross(nn.Module):
    """freeze folds the norm into the linear layer over the wrong axis."""

    def __init__(self) -> None:
        super().__init__()
        self.tower, self.linear, self.norm = Tower(), nn.Linear(8, 8), nn.BatchNorm1d(8)
        self.norm.running_mean = torch.arange(8.0)
        self.norm.running_var = torch.arange(8.0) ** 2 + 1

    def forward(self, x: Tensor) -> Tensor:
        return led_out(self.norm(self.linear(self.tower(x)))).tanh()


class DoubleScale(nn.Module):
    """freeze folds the product into the convolution, and keeps float32."""

    def __init__(self) -> None:
        super().__init__()
        self.images, self.conv = Images(), nn.Conv2d(8, 4, 3)
        self.register_buffer("scale", torch.rand(1, 4, 1, 1).double() + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return (self.conv(self.images(x)) * self.scale).mean((2, 3)) * 2 + 1


class OneBound(nn.Module):
    """optimize_for_inference wants either bound of a clamp."""

    def __init__(self) -> None:
        super().__init__()
        self.images, self.conv = Images(), nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.clamp(self.conv(self.images(x)), min=0.1).mean((2, 3)).softmax(-1)


def models() -> Iterator[Exported]:
    w, image = torch.randn(4, 8), torch.randn(2, 3, 16, 16)
    batch = torch.export.Dim("batch", min=2, max=64)
    named = {"w": w, "inside": {"x": hearts.SIGNS}}
    rows = hearts.ONES.repeat(4, 1)
    yield Exported("keywords_round", "inductor", Keywords(), (w,), {"x": hearts.THOUSANDS, "shift": torch.ones(8)})
    yield Exported("nested_all", "inductor", Nested(), (named, [w, w + 1]))
    yield Exported("counter_abs", "inductor", Counter(), (w, hearts.SHORTS))
    yield Exported("constant_remainder", "inductor", Constant(), (w, hearts.USUAL))
    yield Exported("symbolic_floor_divide", "inductor", Symbolic(), (w, rows), {}, ({0: batch}, {0: batch}))
    yield Exported("tied_atanh", "inductor", Tied(), (torch.randint(0, 10, (2, 5)), hearts.SMALL))
    yield Exported("images_erf", "inductor", SmallImages(), (torch.full_like(image, 1e-8),))
    yield Exported("norm_across", "freeze", NormAcross(), (torch.randn(2, 8, 8),))
    yield Exported("double_scale", "freeze", DoubleScale(), (image,))
    yield Exported("one_bound", "optimize-for-inference", OneBound(), (image,))
    yield Exported("quotient", "static-runtime", Beside(hearts.quotient), (w, hearts.WHOLE))
    yield Exported("halves", "nnc", Beside(hearts.halves), (w, hearts.HALVES))


def make(folder: Path) -> list[dict[str, Any]]:
    folder.mkdir(parents=True)
    rows = []
    for one in models():
        path = folder / f"{one.name}.pt2"
        program = torch.export.export(one.model.eval(), one.args, one.kwargs, dynamic_shapes=one.dynamic)
        torch.export.save(program, path)
        rows.append({"door": ".pt2", "model": one.name, "path": str(path), "backend": one.backend})
    return rows
