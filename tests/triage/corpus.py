"""Makes the corpus that bug identity is measured on: the faults of fixtures/cases in hosts that differ.

    build/venv/bin/python tests/triage/corpus.py OUT [--hosts N]     (a Python with torch)

Each fault is put into N hosts that differ in architecture, width, dtype, data, and in where in the model it stands;
eight faults are written anew for each host besides, with other sizes and values of their own. OUT/corpus.json says,
for each model, which fault it holds and under which backend: what the measure calls the truth.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

CASES = Path(__file__).resolve().parents[2] / "fixtures" / "cases"
# Cases that are one fault in two models. (big_* are the same bugs in larger models.)
SAME_FAULT = {
    "big_autocast_lerp": "autocast_lerp_exc",
    "big_freeze_linear_bn_3d": "freeze_linear_bn_3d",
    "big_inductor_u8_min": "inductor_191499_u8_min",
    "big_jit_bool_mask": "jit_peephole_bool_mul1",
    "big_jit_loop_swap": "jit_75794_loop_swap",
    "big_ofi_clamp_min": "ofi_clamp_min_assert",
    "big_static_int_div": "static_int_div_exc",
}


class Attention(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        weights = torch.softmax(q @ k.transpose(-1, -2), dim=-1)
        return x + weights @ v


class Convolutions(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.first = nn.Conv1d(width, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.first(x.transpose(-1, -2)))
        return torch.tanh(self.second(y)).transpose(-1, -2)


class Gated(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.value, self.gate = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.sigmoid(self.gate(x)) * torch.tanh(self.value(x))


class Recurrent(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.step = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros_like(x[:, 0])
        for i in range(x.size(1)):
            state = torch.tanh(self.step(torch.cat([x[:, i], state], dim=-1)))
        return x * state.unsqueeze(1)


class Perceptron(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(torch.relu(self.up(x)))


class Pooling(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.mix = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(x - x.mean(dim=1, keepdim=True)) / (1.0 + x.abs().amax(dim=-1, keepdim=True))


ARCHITECTURES: list[Callable[[int], nn.Module]] = [Perceptron, Attention, Convolutions, Gated, Recurrent, Pooling]


class Host(torch.jit.ScriptModule):
    """Layers around a fault. `position`: it stands before them, between them, or after the first, of whose result its
    first input then holds nothing but a zero; the backend and the search do not know that."""

    def __init__(self, before: nn.Module, after: nn.Module, fault: torch.jit.ScriptModule, position: int, hangs: bool):
        super().__init__()
        self.before, self.after, self.fault = torch.jit.script(before), torch.jit.script(after), fault
        given = fault.forward.schema.arguments[1:]
        names = [f"a{i}" for i in range(len(given))]
        arguments = "".join(f", {name}: {one.type.annotation_str}" for name, one in zip(names, given))
        body = ["y = self.fault({})", "h = self.before(x)", "z = self.after(h)"]
        body = [body[i] for i in ([0, 1, 2], [1, 0, 2], [1, 2, 0])[position]]
        if position and hangs:
            body.insert(1, "first = a0 + (h.sum() * 0.0).to(a0.dtype)")
            names[0] = "first"
        text = "\n  ".join([*body, ("return y, z", "return z, y")[position % 2]]).format(", ".join(names))
        self.define(f"def forward(self, x: Tensor{arguments}):\n  {text}\n")


def layers(rng: random.Random, width: int, dtype: torch.dtype, architecture: int) -> nn.Module:
    made = [ARCHITECTURES[architecture](width)]
    made += [rng.choice(ARCHITECTURES)(width) for _ in range(rng.randint(0, 3))]
    return nn.Sequential(*made).to(dtype).eval()


def draw_host(
    rng: random.Random, index: int, fault: torch.jit.ScriptModule, hangs: bool
) -> tuple[torch.jit.ScriptModule, Tensor]:
    torch.manual_seed(rng.randrange(2**31))
    width, dtype = rng.choice([3, 4, 6, 8, 12]), rng.choice([torch.float32, torch.float32, torch.float64])
    before = layers(rng, width, dtype, index % len(ARCHITECTURES))
    after = layers(rng, width, dtype, rng.randrange(len(ARCHITECTURES)))
    host = Host(before, after, fault, index % 3, hangs)
    return host.eval(), torch.randn(rng.randint(1, 3), rng.randint(2, 5), width, dtype=dtype)


# Faults written anew for each host: their own sizes, values and dtypes differ too.


class LinearBatchNorm(nn.Module):
    def __init__(self, rng: random.Random):
        super().__init__()
        self.channels, width = rng.randint(2, 6), rng.randint(2, 9)
        self.linear, self.norm = nn.Linear(width, self.channels), nn.BatchNorm1d(self.channels)
        nn.init.normal_(self.norm.running_mean)
        nn.init.uniform_(self.norm.running_var, 0.2, 3.0)
        self.example = (torch.randn(rng.randint(1, 3), self.channels, width),)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.linear(x))


class TypeAs(nn.Module):
    def __init__(self, rng: random.Random):
        super().__init__()
        self.amount = rng.uniform(0.5, 4.0)
        self.example = (torch.randn(rng.randint(2, 5), rng.randint(1, 4)),)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(x)
        y.type_as(x).add_(self.amount)
        return y


class BoolTimesOne(nn.Module):
    def __init__(self, rng: random.Random):
        super().__init__()
        self.bound = rng.uniform(-0.5, 0.5)
        self.example = (torch.randn(rng.randint(2, 6), rng.randint(2, 6)),)

    def forward(self, x: Tensor) -> Tensor:
        mask = x > self.bound
        return mask * 1 + mask


class ClampBelow(nn.Module):
    def __init__(self, rng: random.Random):
        super().__init__()
        channels = rng.randint(1, 5)
        self.convolution, self.bound = nn.Conv2d(channels, rng.randint(1, 5), 3, padding=1), rng.uniform(-1, 1)
        self.example = (torch.randn(rng.randint(1, 2), channels, rng.randint(4, 7), 5),)

    def forward(self, x: Tensor) -> Tensor:
        return torch.clamp(self.convolution(x), min=self.bound)


class IntegerDivision(nn.Module):
    def __init__(self, rng: random.Random):
        super().__init__()
        self.by = rng.randint(2, 9)
        self.example = (torch.randint(0, 50, (rng.randint(2, 7), rng.randint(1, 4))),)

    def forward(self, x: Tensor) -> Tensor:
        return torch.div(x, self.by)


class Ties(nn.Module):
    def __init__(self, rng: random.Random):
        super().__init__()
        values = torch.randn(rng.randint(2, 7), rng.randint(1, 4))
        self.example = (values.clone(), values.clone())

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.min(x, y)


class FloorOfIntegers(nn.Module):
    def __init__(self, rng: random.Random):
        super().__init__()
        self.example = (torch.randint(-9, 9, (rng.randint(2, 7), rng.randint(2, 4))),)

    def forward(self, x: Tensor) -> Tensor:
        return torch.floor(x + x)


class HalvesRounded(nn.Module):
    def __init__(self, rng: random.Random):
        super().__init__()
        self.example = (torch.arange(-4, rng.randint(4, 9), dtype=torch.float32) + 0.5,)

    def forward(self, x: Tensor) -> Tensor:
        return torch.round(x * 1.0)


FRESH: dict[str, tuple[type[nn.Module], str]] = {
    "freeze_linear_bn_3d": (LinearBatchNorm, "freeze"),
    "jit_type_as_dce": (TypeAs, "jit"),
    "jit_peephole_bool_mul1": (BoolTimesOne, "jit"),
    "ofi_clamp_min_assert": (ClampBelow, "optimize-for-inference"),
    "static_int_div_exc": (IntegerDivision, "static-runtime"),
    "grad_82635_min_tie": (Ties, "jit --grad"),
    "nnc_floor_int_exc": (FloorOfIntegers, "nnc"),
    "nnc_round_half": (HalvesRounded, "nnc"),
}


def save(model: torch.jit.ScriptModule, inputs: list[object], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    torch.jit.save(model, str(folder / "model.pt"))
    torch.save(inputs, folder / "inputs.pt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--hosts", type=int, default=6)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--backends", nargs="*", help="only the cases of these")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []

    def add(
        name: str, fault: str, variant: str, host: int, module: torch.jit.ScriptModule, inputs: list[object]
    ) -> None:
        rng = random.Random(f"{arguments.seed} {name} {host}")
        hangs = name.startswith("fresh_") and isinstance(inputs[0], Tensor) and inputs[0].is_floating_point()
        model, x = draw_host(rng, host, module, hangs)
        with_x = [x.requires_grad_("--grad" in variant), *inputs]
        save(model, with_x, arguments.out / name / f"host{host}")
        rows.append({"model": f"{name}/host{host}/model.pt", "fault": fault, "variant": variant})

    for case in json.loads((CASES / "expected.json").read_text()):
        variant = case["backend"] + (" --grad" if case["grad"] else "")
        if arguments.backends and case["backend"] not in arguments.backends:
            continue
        for host in range(arguments.hosts):
            module = torch.jit.load(str(CASES / case["case"] / "failing.pt"))
            inputs = torch.load(CASES / case["case"] / "inputs.pt", weights_only=True)
            try:
                add(case["case"], SAME_FAULT.get(case["case"], case["case"]), variant, host, module, list(inputs))
            except Exception as error:
                print(f"{case['case']}: no host: {str(error).splitlines()[0]}", file=sys.stderr)
                break
    for fault, (kind, variant) in FRESH.items():
        if arguments.backends and variant.split()[0] not in arguments.backends:
            continue
        for host in range(arguments.hosts):
            rng = random.Random(f"{arguments.seed} {fault} fresh {host}")
            torch.manual_seed(rng.randrange(2**31))
            module = kind(rng).eval()
            inputs = [value.requires_grad_("--grad" in variant) for value in module.example]
            del module.example
            add(f"fresh_{fault}", fault, variant, host, torch.jit.script(module), inputs)
    (arguments.out / "corpus.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{len(rows)} models of {len({row['fault'] for row in rows})} faults in {arguments.out}")


if __name__ == "__main__":
    main()
