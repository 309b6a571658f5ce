#!/usr/bin/env python3
"""Is a difference called what it is? Labelled programs, each run under TorchInductor; prints a table of kinds.

    nature.py --program build/release/repro-minify [--only KIND] [--python PYTHON]

What is labelled "wrong value" is wrong by a fault of the backend that is planted (`inductor-like --inject`) or known;
everything else is a difference that no backend is to blame for, which the rule `exact` or `close` takes for a failure.
A program that passes on this machine says nothing, and is counted apart.
"""

import argparse
import collections
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F


class Case(NamedTuple):
    kind: str
    name: str
    function: Callable[..., torch.Tensor]
    inputs: tuple[torch.Tensor, ...]
    options: tuple[str, ...]


EXACT = ("--backend", "inductor", "--compare", "exact")
CLOSE = ("--backend", "inductor", "--compare", "close")
UNSEEDED = (*CLOSE, "--inductor-config", "fallback_random=false")


def planted(fault: str) -> tuple[str, ...]:
    return ("--backend", "inductor-like", "--inject", fault)


def drawn(*sizes: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def cases() -> Iterator[Case]:
    x, y = drawn(64, 257), drawn(64, 257, seed=1)
    for name, function in {
        "softmax": lambda x: torch.softmax(x, -1),
        "layer_norm": lambda x: F.layer_norm(x, (257,)),
        "sum": lambda x: x.sum(-1),
        "logsumexp": lambda x: torch.logsumexp(x, -1),
        "gelu": lambda x: F.gelu(x * 1.7),
        "sin_of_product": lambda x: torch.sin(x * 3.1) * torch.exp(x),
        "var": lambda x: x.var(-1),
        "tanh": lambda x: torch.tanh(x).mean(0),
        "group_norm": lambda x: F.group_norm(x.reshape(1, 64, 257), 8),
        "cumsum_mean": lambda x: (x.cumsum(-1) / 257).mean(-1),
    }.items():
        yield Case("rounding", name, function, (x,), EXACT)
    near = torch.ones(16, 33) + 1e-6 * drawn(16, 33)
    for name, function in {
        "norm_of_noise": lambda x: F.layer_norm(x.cumsum(-1) - x.cumsum(-1).mean(-1, keepdim=True) * 1.0, (33,)) * 1e3,
        "difference_of_sums": lambda x: (x.sum(-1) - x.double().sum(-1).float()) * 1e6,
        "sin_of_large": lambda x: torch.sin(x.sum(-1) * 1e7),
        "inverse_of_zero": lambda x: 1 / (x.softmax(-1).sum(-1) - 1 + 1e-9),
        "tan_near_pole": lambda x: torch.tan(x.sum(-1) * 1e6),
        "difference_of_exp": lambda x: (torch.exp(x) - torch.exp(x.mean(-1, keepdim=True))) * 1e7,
        "variance_of_equal": lambda x: x.softmax(-1).sum(-1).sub(1).mul(1e7),
        "cos_of_large": lambda x: torch.cos(x.logsumexp(-1) * 1e7),
        "floor_at_edge": lambda x: torch.floor(x.softmax(-1).sum(-1)),
        "remainder": lambda x: torch.remainder(x.sum(-1) * 1e6, 1.0),
    }.items():
        yield Case("ill-conditioned", name, function, (near,), CLOSE)
    for place, dtype in enumerate((torch.float16, torch.bfloat16)):
        for name, function in {
            "trip": lambda x, d=dtype: x.to(d).float() * 1.0,
            "trip_of_sum": lambda x, d=dtype: (x + 0.1).to(d).float() - 0.1,
            "product": lambda x, d=dtype: (x.to(d) * x.to(d)).float() + 1e-3,
            "chain": lambda x, d=dtype: (x.to(d) * 1.1 * 1.3).float(),
            "sigmoid": lambda x, d=dtype: torch.sigmoid(x.to(d)).float() * 2,
        }.items():
            yield Case("cast", f"{name}_{place}", function, (x,), CLOSE)
    equal = torch.ones(8, 100) / 3
    for name, function in {
        "argmax_of_softmax": lambda x: torch.softmax(x, 0).sum(0).argmax(-1),
        "argmin_of_norm": lambda x: F.layer_norm(x + 0.1, (100,)).argmin(-1),
        "topk_indices": lambda x: torch.topk(torch.softmax(x, -1).sin(), 3).indices,
        "argsort": lambda x: torch.argsort(torch.exp(x).sum(0) / 7.0),
        "sort_indices": lambda x: torch.sort(torch.tanh(x).mean(0)).indices,
        "max_indices": lambda x: torch.softmax(x, 0).sum(0, keepdim=True).max(-1).indices,
        "argmax_of_sums": lambda x: (x.sum(0) / x.sum(0).sum()).argmax(-1),
        "argmin_of_var": lambda x: x.var(0).argmin(-1),
        "argmax_of_exp": lambda x: torch.exp(x * 1.1).log().argmax(-1),
        "mode_of_order": lambda x: torch.argsort(torch.sigmoid(x).sum(0)),
    }.items():
        noisy = equal + 1e-8 * drawn(8, 100)
        yield Case("tie or order", name, function, (noisy,), EXACT)
    for name, function in {
        "dropout": lambda x: F.dropout(x, 0.5, True),
        "rand": lambda x: x + torch.rand_like(x),
        "randn": lambda x: x * torch.randn_like(x),
        "dropout_twice": lambda x: F.dropout(F.dropout(x, 0.1, True), 0.3, True),
        "rand_of_size": lambda x: x + torch.rand(64, 257),
        "randint": lambda x: x + torch.randint(0, 100, (64, 257)),
        "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, True),
        "rrelu": lambda x: x.relu() + torch.rand_like(x).relu(),
        "noise_of_norm": lambda x: F.layer_norm(x + torch.randn_like(x), (257,)),
        "bernoulli": lambda x: x * (torch.rand_like(x) < 0.5),
    }.items():
        yield Case("random numbers", name, function, (x,), UNSEEDED)
    of_two: dict[str, Callable[..., torch.Tensor]] = {
        "relu": lambda x, y: torch.relu(x) + y,
        "relu_of_sum": lambda x, y: torch.relu(x + y) * 2,
        "deep": lambda x, y: torch.tanh(torch.relu(x @ y.T)),
        "relu_twice": lambda x, y: torch.relu(torch.relu(x) - 0.5) + y,
        "mean_of_relu": lambda x, y: torch.relu(x * y).mean(-1),
    }
    for name, pair in of_two.items():
        yield Case("wrong value", name, pair, (x, y), planted("relu-accuracy"))
    ids, small = torch.full((2,), 2147483647, dtype=torch.int32), torch.ones(1, 1, 2, dtype=torch.int8) * 100
    yield Case("wrong value", "wrap", lambda x: (x + 1).to(torch.int64) > 0, (ids,), EXACT)
    yield Case("wrong value", "wrap_of_product", lambda x: (x * 3).to(torch.int64) // 2, (ids,), EXACT)
    yield Case("wrong value", "bmm_int8", lambda x: torch.bmm(x, x.mT), (small,), EXACT)
    image = torch.arange(2.0).reshape(1, 1, 1, 2)
    yield Case("wrong value", "nearest", lambda x: F.interpolate(x, scale_factor=1.3), (image,), CLOSE)
    yield Case("wrong value", "nearest_of_sin", lambda x: F.interpolate(x.sin(), scale_factor=1.3), (image,), CLOSE)


class Wrapped(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def called(case: Case, program: Path, python: str, folder: Path) -> str:
    """Returns what the program calls the difference; "passes", or the reason of another end."""
    path = folder / f"{case.name}.pt"
    traced = torch.jit.trace(Wrapped(case.function), case.inputs, check_trace=False)
    torch.jit.save(traced, path)
    torch.save(list(case.inputs), folder / "inputs.pt")
    command = [str(program), "run", str(path), "--inputs", str(folder / "inputs.pt"), *case.options, "--json",
               "--python", python, "--no-timing"]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        return "no answer: " + (ended.stderr.strip().splitlines() or [""])[-1][:100]
    nature = json.loads(ended.stdout)["verdict"]["nature"]
    return nature["kind"] if nature else "passes" if ended.returncode == 0 else "no difference of values"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases():
            if given.only in case.kind:
                answer = called(case, given.program, given.python, Path(folder))
                table[case.kind][answer] += 1
                print(f"{case.kind:16} {case.name:20} {answer}", flush=True)
    for kind, answers in table.items():
        told = sum(answers.values()) - answers["passes"]
        print(f"{kind}: {answers[kind]} of {told} right, {answers['passes']} pass")
    return 0


if __name__ == "__main__":
    sys.exit(main())
