#!/usr/bin/env python3
"""How fast `inductor-like` is beside eager and the real TorchInductor: pointwise-heavy models of a million elements.

    backends.py --binary build/release/repro-minify --work FOLDER -o backends.json [--quick]

One thread. Eager and inductor-like as `repro-minify run` times them (median of its warm calls), TorchInductor and
Python's eager by the same rule in this process. What counts are the ratios; no time fails anything.
"""

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path

import torch
import torch.nn.functional as F

SIZE = (1024, 1024)


def gates(x, y):
    return torch.sigmoid(x) * torch.tanh(y) + (1 - torch.sigmoid(x)) * y


def activations(x, y):
    return F.gelu(x) * F.silu(y) + F.hardswish(x - y)


def arithmetic(x, y):
    z = (x - y) * (x + y) + 0.5 * x
    z = torch.where(z > 0, z, 0.1 * z)
    return (z * z + 1).sqrt() - z.abs().clamp(max=3.0) * y


def normalised(x, y):
    return torch.softmax(x * 0.125 + y, -1) * F.layer_norm(y, (SIZE[1],))


def residual(x, y):
    for _ in range(6):
        x = x + torch.tanh(x * y)
    return x


def reduced(x, y):
    return ((x - y) ** 2).mean(), (x * y).sum(1), torch.amax(x.abs() + y, 0)


MODELS = [gates, activations, arithmetic, normalised, residual, reduced]


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, y):
        return self.function(x, y)


def seconds(call, arguments, calls=9):
    for _ in range(3):
        call(*arguments)
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        call(*arguments)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def ours(binary, folder, dtype):
    command = [
        binary,
        "run",
        folder / "model.pt",
        "--inputs",
        folder / "inputs.pt",
        "--backend",
        "inductor-like",
        "--json",
    ]
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    result = json.loads(process.stdout)
    return result["timing"]["eager_seconds"], result["timing"]["optimised_seconds"], process.returncode


def row_of(function, dtype, arguments):
    torch.manual_seed(0)
    inputs = tuple(torch.randn(SIZE).to(dtype) for _ in range(2))
    folder = arguments.work / f"{function.__name__}_{str(dtype)[6:]}"
    folder.mkdir(parents=True, exist_ok=True)
    module = Module(function).eval()
    with torch.no_grad():
        torch.jit.trace(module, inputs).save(str(folder / "model.pt"))
        torch.save(inputs, folder / "inputs.pt")
        eager, like, code = ours(arguments.binary, folder, dtype)
        torch._dynamo.reset()
        python_eager = seconds(module, inputs)
        inductor = seconds(torch.compile(module), inputs)
    return {
        "name": function.__name__,
        "dtype": str(dtype)[6:],
        "elements": SIZE[0] * SIZE[1],
        "verdict": "pass" if code == 0 else "fail",
        "eager_ms": 1e3 * eager,
        "inductor_like_ms": 1e3 * like,
        "python_eager_ms": 1e3 * python_eager,
        "inductor_ms": 1e3 * inductor,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="two models, float32 only")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dtypes = [torch.float32] if arguments.quick else [torch.float32, torch.bfloat16]
    rows = [
        row_of(function, dtype, arguments)
        for dtype in dtypes
        for function in (MODELS[:2] if arguments.quick else MODELS)
    ]
    arguments.output.write_text(json.dumps(rows, indent=1) + "\n")
    print(
        "| model | dtype | verdict | eager ms | inductor-like ms | eager / inductor-like | Python eager ms "
        "| TorchInductor ms | eager / TorchInductor |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['name']} | {row['dtype']} | {row['verdict']} | {row['eager_ms']:.2f} | "
            f"{row['inductor_like_ms']:.2f} | {row['eager_ms'] / row['inductor_like_ms']:.2f} x | "
            f"{row['python_eager_ms']:.2f} | {row['inductor_ms']:.2f} | "
            f"{row['python_eager_ms'] / row['inductor_ms']:.2f} x |"
        )
    slower = [row["name"] + " " + row["dtype"] for row in rows if row["eager_ms"] < row["inductor_like_ms"]]
    print(f"  {'MISSED: ' + ', '.join(slower) if slower else 'holds'}: inductor-like at least as fast as eager")


if __name__ == "__main__":
    main()
