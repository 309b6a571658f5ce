#!/usr/bin/env python3
"""PyTorch's minifier and repro-minify side by side on PyTorch's own injected ReLU bug in TorchInductor, in one run.

    inductor_minifier.py --binary build/release/repro-minify --work FOLDER -o inductor_minifier.json [--quick]

One graph of 75 nodes with a ReLU in its middle; the bug (torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY) is a
kernel that does not compile, and one that computes something else. PyTorch's minifier runs with each query in a process
of its own (its default) and without; ours always has one for each. --quick: compile_error only, and not isolated.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent.parent
BUG = "cpp.inject_relu_bug_TESTING_ONLY"
NODES = 75  # the input and the output are counted, as PyTorch counts


class Chain(torch.nn.Module):
    """Pointwise operators in a row, none of them a ReLU but the middle one, and none that would damp what it gets
    wrong."""

    def forward(self, x):
        operators = [torch.neg, torch.asinh, torch.neg, torch.sinh]
        for position in range(NODES - 2):
            x = torch.relu(x) if position == (NODES - 2) // 2 else operators[position % 4](x)
        return x


def example():
    return torch.randn(16, 16, generator=torch.Generator().manual_seed(0))


def pytorch_side(bug, isolate):
    """In a process of its own: queries, seconds, nodes left, as JSON on the last line."""
    import torch._inductor.config as inductor_config
    from torch._dynamo.repro import after_aot
    from torch._functorch import fx_minifier
    from torch.fx.experimental.proxy_tensor import make_fx

    inductor_config.cpp.inject_relu_bug_TESTING_ONLY = bug
    accuracy = "accuracy" if bug == "accuracy" else ""
    chain = Chain()
    graph = make_fx(lambda x: (chain(x),))(example())  # the form that AOTAutograd gives
    graph.graph.eliminate_dead_code()
    queries, sizes = [0], []

    def counted(function):
        def ask(module, *arguments, **options):
            queries[0] += 1
            fails = function(module, *arguments, **options)
            if fails:
                sizes.append(len(module.graph.nodes))
            return fails

        return ask

    compiler = "inductor_accuracy" if accuracy else "inductor"
    if isolate:
        import functools

        question = functools.partial(after_aot.isolate_fails, compiler_name=compiler, accuracy=accuracy)
    else:
        question = after_aot.ACCURACY_FAILS[accuracy]
    begin = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), torch.no_grad():
        fx_minifier.minifier(graph, [example()], module_fails=counted(question), dump_state=lambda *_: None)
    wall = time.monotonic() - begin
    print(json.dumps({"queries": queries[0], "wall": wall, "nodes": sizes[-1] if sizes else None}))


def run_pytorch(options, bug, isolate):
    command = [sys.executable, __file__, "--pytorch-side", bug] + (["--isolate"] if isolate else [])
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(options.work / f"cache-{bug}-{isolate}"),
                   "TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}  # fmt: skip
    finished = subprocess.run(command, cwd=options.work, capture_output=True, text=True, env=environment)
    if finished.returncode != 0:
        raise RuntimeError(finished.stderr[-2000:])
    return json.loads(finished.stdout.splitlines()[-1])


def run_ours(options, bug):
    """The wall time is that of the whole program, start of the Python worker included."""
    model, repro = options.work / "chain.pt", options.work / f"chain-{bug}.repro"
    torch.jit.save(torch.jit.trace(Chain(), example()), str(model))
    torch.save([example()], options.work / "chain_inputs.pt")
    begin = time.monotonic()
    finished = subprocess.run(
        [str(word) for word in (options.binary, model, "--inputs", options.work / "chain_inputs.pt", "--backend",
         "inductor", "--python", sys.executable, "--inductor-config", f"{BUG}={bug}", "-o", repro, "--force", "--quiet",
         "--no-verify", "--no-bisect")], capture_output=True, text=True)  # fmt: skip
    wall = time.monotonic() - begin
    if finished.returncode != 0:
        raise RuntimeError(finished.stderr[-2000:])
    report = json.loads((repro / "report.json").read_text())
    # As PyTorch counts: operators, inputs, and the output. The emitted files are not part of its time.
    nodes = report["after"]["operators"] + report["after"]["inputs"] + 1
    return {"queries": report["checks"], "wall": wall, "search": report["seconds"]["search"], "nodes": nodes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "release" / "repro-minify")
    parser.add_argument("--work", type=Path, default=ROOT / "out" / "bench" / "inductor_minifier")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pytorch-side", metavar="BUG", help=argparse.SUPPRESS)
    parser.add_argument("--isolate", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    if options.pytorch_side:
        pytorch_side(options.pytorch_side, options.isolate)
        return
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    rows = []
    print(f"{'bug':15} {'tool':30} {'queries':>7} {'seconds':>8} {'nodes left':>10}")
    for bug in ["compile_error"] if options.quick else ["compile_error", "accuracy"]:
        sides = [("repro-minify", lambda bug=bug: run_ours(options, bug)),
                 ("PyTorch's, not isolated", lambda bug=bug: run_pytorch(options, bug, False))]  # fmt: skip
        if not options.quick:
            sides.append(("PyTorch's, isolated", lambda bug=bug: run_pytorch(options, bug, True)))
        for tool, measure in sides:
            row = {"bug": bug, "tool": tool, **measure()}
            rows.append(row)
            print(f"{bug:15} {tool:30} {row['queries']:7} {row['wall']:8.1f} {row['nodes']!s:>10}", flush=True)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
