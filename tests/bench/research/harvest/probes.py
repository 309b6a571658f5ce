"""Probes: a few lines of PyTorch each, and two inputs, the same for the same seed and number.

A batch is what is compiled at once: many expressions of the same two inputs. Where their results differ from eager's,
each is asked alone (compared.py).
"""

import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from pieces import FAMILIES

Inputs = tuple[Tensor, Tensor]

DTYPES = {
    torch.float32: 6,
    torch.float64: 2,
    torch.float16: 2,
    torch.bfloat16: 2,
    torch.int8: 4,
    torch.uint8: 4,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.bool: 2,
}
SHAPES = (
    (),
    (1,),
    (0,),
    (7,),
    (17,),
    (33,),
    (64,),
    (100,),
    (0, 4),
    (3, 5),
    (4, 16),
    (16, 17),
    (5, 1),
    (2, 3, 9),
    (3, 1, 33),
)
IMAGES = ((1, 3, 7, 9), (2, 4, 8, 8), (1, 8, 5, 16))
LAYOUTS = ("contiguous", "contiguous", "contiguous", "transposed", "strided", "expanded", "offset")
FLAT = (
    "pointwise",
    "pointwise",
    "pointwise",
    "binary",
    "reducing",
    "reducing",
    "scanning",
    "moving",
    "casting",
    "writing",
)


@dataclass(frozen=True)
class Batch:
    """Expressions of x and y; `setting` says in words what the inputs are."""

    name: str
    seed: int
    setting: str
    expressions: tuple[str, ...]
    inputs: Inputs


def filled(rng: random.Random, shape: tuple[int, ...], dtype: torch.dtype, fill: str) -> Tensor:
    if dtype is torch.bool:
        return torch.rand(shape) < 0.5
    if not dtype.is_floating_point:
        ends = torch.iinfo(dtype)
        if fill == "plain":
            return torch.randint(max(ends.min, -9), 10, shape).to(dtype)
        pool = [ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 1, 2, ends.max // 2, max(ends.min, -1), 100]
        return torch.tensor(pool, dtype=dtype)[torch.randint(len(pool), shape)]
    if fill == "plain":
        return (torch.randn(shape, dtype=torch.float64) * rng.choice((0.5, 1.0, 4.0))).to(dtype)
    if fill == "ties":
        return torch.randint(-3, 4, shape).to(dtype)
    specials = [
        float("nan"),
        float("inf"),
        -float("inf"),
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        20.0,
        -20.0,
        90.0,
        -90.0,
        1e-4,
    ]
    return torch.tensor(specials, dtype=dtype)[torch.randint(len(specials), shape)]


def laid_out(rng: random.Random, shape: tuple[int, ...], dtype: torch.dtype, fill: str, layout: str) -> Tensor:
    if layout == "transposed" and len(shape) > 1:
        return filled(rng, (*shape[:-2], shape[-1], shape[-2]), dtype, fill).mT
    if layout == "strided" and shape:
        return filled(rng, (*shape[:-1], shape[-1] * 2), dtype, fill)[..., ::2]
    if layout == "expanded" and shape:
        return filled(rng, (1, *shape[1:]), dtype, fill).expand(shape)
    if layout == "offset" and shape:
        return filled(rng, (shape[0] + 1, *shape[1:]), dtype, fill)[1:]
    return filled(rng, shape, dtype, fill)


def expression(rng: random.Random, families: tuple[str, ...], dims: int) -> str:
    """One to three pieces, one inside the other."""
    text = "x"
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        piece = rng.choice(FAMILIES[rng.choice(families)])
        other = "x" if rng.random() < 0.1 else "y"
        inner = text if text == "x" else f"({text})"
        text = piece.format(x=inner, y=other, d=rng.randrange(-dims, dims) if dims else 0)
    return text


def batch(seed: int, number: int, size: int) -> Batch | None:
    """Seed 0 is the sweep."""
    return sweep(number, size) if seed == 0 else drawn(seed, number, size)


def drawn(seed: int, number: int, size: int) -> Batch:
    rng = random.Random(seed * 1_000_003 + number)
    of_images = rng.random() < 0.12
    dtype = rng.choices(list(DTYPES), list(DTYPES.values()))[0]
    other = dtype if rng.random() < 0.7 else rng.choices(list(DTYPES), list(DTYPES.values()))[0]
    shape = rng.choice(IMAGES if of_images else SHAPES)
    fills = [rng.choice(("plain", "plain", "special", "ties")) for _ in range(2)]
    layouts = [rng.choice(LAYOUTS) for _ in range(2)]
    families = ("image", "image", "image", *FLAT) if of_images else FLAT
    torch.manual_seed(rng.randrange(2**31))
    x = laid_out(rng, shape, dtype, fills[0], layouts[0])
    y = laid_out(rng, shape, other, fills[1], layouts[1])
    texts = tuple(dict.fromkeys(expression(rng, families, len(shape)) for _ in range(size)))
    words = f"x: {dtype} {list(shape)} {fills[0]} {layouts[0]}; y: {other} {fills[1]} {layouts[1]}"
    return Batch(f"s{seed}_{number}", seed, words.replace("torch.", ""), texts, (x, y))


def sweep(number: int, size: int) -> Batch | None:
    """Every piece alone, on each dtype, on values plain and special; None behind the last."""
    settings = [
        (family, start, dtype, fill)
        for fill in ("special", "plain")
        for family, pieces in FAMILIES.items()
        for dtype in DTYPES
        for start in range(0, len(pieces), size)
    ]
    if number >= len(settings):
        return None
    # In an order of its own, so that the first few are a fair sample.
    random.Random(0).shuffle(settings)
    family, start, dtype, fill = settings[number]
    rng = random.Random(number)
    torch.manual_seed(number)
    shape = (2, 4, 9, 7) if family == "image" else (5, 35)
    inputs = filled(rng, shape, dtype, fill), filled(rng, shape, dtype, fill)
    texts = tuple(text.format(x="x", y="y", d=-1) for text in FAMILIES[family][start : start + size])
    words = f"{family} of {dtype} {list(shape)} {fill}"
    return Batch(f"s0_{number}", 0, words.replace("torch.", ""), texts, inputs)


class Function(torch.nn.Module):
    """The expressions as one module: the source is the probe's own, so Dynamo and a trace see nothing else."""

    def __init__(self, expressions: tuple[str, ...]) -> None:
        super().__init__()
        names: dict[str, object] = {"torch": torch, "F": F}
        exec(f"def function(x, y):\n    return ({', '.join(expressions)},)\n", names)
        self.function = names["function"]

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return self.function(x, y)  # type: ignore[operator, no-any-return]


def as_text(function: tuple[str, ...]) -> str:
    return "def function(x, y):\n    return " + ", ".join(function) + "\n"


def fresh(inputs: Inputs) -> Inputs:
    """Copies of the same strides, for a run that may write to them."""
    x, y = (torch.as_strided(value, value.shape, value.stride()) for value in inputs)
    return copied(x), copied(y)


def copied(value: Tensor) -> Tensor:
    if value.numel() and not all(value.stride()) and value.dim():
        return value.select(0, 0).unsqueeze(0).clone().expand(value.shape)
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(value)
