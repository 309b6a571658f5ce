"""Models with several faults, and the backend that has them.

planted_faults.py make COUNT SEED FOLDER writes failing.pt, its inputs inside, in which COUNT of the faulty operators
stand, some of them in several places, and prints their names. planted_faults.py MODEL INPUTS OUTPUTS is the backend, as
`command:` calls it, with --serve for many calls."""

import random
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "backends"))

from serve import serve

FAULTS = {"tanh": "accuracy", "cos": "accuracy", "softmax": "exception", "cumsum": "exception", "sigmoid": "dtype"}
RIGHT = ("relu", "sin", "abs", "square", "neg")


def call(name: str, x: torch.Tensor) -> torch.Tensor:
    return getattr(torch, name)(x, -1) if name in ("softmax", "cumsum") else getattr(torch, name)(x)


class Planted(torch.nn.Module):
    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.names = names
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in names)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x
        for name, layer in zip(self.names, self.layers, strict=True):
            y = call(name, layer(y)) * 0.5 + x
        return y, y.sum()


def make(count: int, seed: int, folder: Path) -> None:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    faults = chance.sample(sorted(FAULTS), count)
    names = [*faults, *chance.choices(faults, k=chance.randrange(3)), *chance.choices(RIGHT, k=4)]
    chance.shuffle(names)
    x = torch.randn(2, 4)
    torch.save((x,), folder / "given.pt")
    traced = torch.jit.trace(Planted(names).eval(), x)
    traced.save(folder / "failing.pt", _extra_files={"inputs.pt": (folder / "given.pt").read_bytes()})
    print(" ".join(sorted(faults)))


def spoilt(value: object, calls: str) -> object:
    if isinstance(value, tuple):
        return tuple(spoilt(element, calls) for element in value)
    if not isinstance(value, torch.Tensor):
        return value
    result = value + 1 if "aten::tanh" in calls else value
    result = result * 2 + 3 if "aten::cos" in calls else result
    return result.to(torch.float64) if "aten::sigmoid" in calls else result


def main() -> None:
    model, inputs, outputs = (word for word in sys.argv[1:] if word != "--serve")
    module = torch.jit.load(model)
    graph = module.graph.copy()
    torch._C._jit_pass_inline(graph)
    calls = str(graph)
    for name in (name for name, kind in FAULTS.items() if kind == "exception"):
        if f"aten::{name}(" in calls:
            raise NotImplementedError(f"{name} has no kernel here")
    with torch.no_grad():
        result = module(*torch.load(inputs))
    torch.save(spoilt(result, calls), outputs)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    elif sys.argv[-1] == "--serve":
        serve(main)
    else:
        main()
