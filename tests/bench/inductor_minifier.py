#!/usr/bin/env python3
"""PyTorch's minifier and repro-minify side by side on PyTorch's own injected ReLU bug in TorchInductor, in one run.

    inductor_minifier.py --binary build/release/repro-minify --work FOLDER -o inductor_minifier.json [--quick]

One graph of 75 nodes with a ReLU in its middle; the bug (torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY) is a
kernel that does not compile, and one that computes something else. PyTorch's minifier runs with each query in a process
of its own (its default) and without; ours always has one for each. Seconds are those of the whole process on both
sides, from its start to its end, with every cache empty (nothing of an earlier run is found, of ours neither), and the
median of --runs. --quick: compile_error only, and not isolated.
"""

import argparse
import contextlib
import io
import json
import os
import shutil
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


def timed(command, folder):
    """(seconds, standard output) of a process that finds nothing of an earlier one: its caches are below `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("TORCHINDUCTOR_CACHE_DIR", None)
    begin = time.monotonic()
    finished = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True,
                              env=environment)  # fmt: skip
    wall = time.monotonic() - begin
    if finished.returncode != 0:
        raise RuntimeError(finished.stderr[-2000:])
    shutil.rmtree(folder / "tmp", ignore_errors=True)
    return wall, finished.stdout


def run_pytorch(options, bug, isolate):
    command = [sys.executable, __file__, "--pytorch-side", bug] + (["--isolate"] if isolate else [])
    wall, said = timed(command, options.work / "pytorch")
    inside = json.loads(said.splitlines()[-1])
    return {"queries": inside["queries"], "wall": wall, "search": inside["wall"], "nodes": inside["nodes"]}


def run_ours(options, bug):
    model, repro = options.work / "chain.pt", options.work / f"chain-{bug}.repro"
    torch.jit.save(torch.jit.trace(Chain(), example()), str(model))
    torch.save([example()], options.work / "chain_inputs.pt")
    command = [options.binary, model, "--inputs", options.work / "chain_inputs.pt", "--backend", "inductor",
               "--python", sys.executable, "--inductor-config", f"{BUG}={bug}", "-o", repro, "--force", "--quiet",
               "--no-verify", "--no-bisect"]  # fmt: skip
    wall, _ = timed(command, options.work / "ours")
    report = json.loads((repro / "report.json").read_text())
    # Nodes as PyTorch counts them: operators, inputs, and the output. The emitted files are not part of its time.
    nodes = report["after"]["operators"] + report["after"]["inputs"] + 1
    return {"queries": report["checks"], "wall": wall, "search": report["seconds"]["search"], "nodes": nodes}


def median_of(runs):
    """The run whose seconds are in the middle, with the seconds of all."""
    in_order = sorted(runs, key=lambda run: run["wall"])
    return {**in_order[len(runs) // 2], "walls": [run["wall"] for run in runs]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "release" / "repro-minify")
    parser.add_argument("--work", type=Path, default=ROOT / "out" / "bench" / "inductor_minifier")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=3, help="of each side, in turn")
    parser.add_argument("--not-isolated", action="store_true", help="without PyTorch's slow side")
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
    print(f"{'bug':15} {'tool':25} {'queries':>7} {'seconds':>8} {'search':>8} {'nodes left':>10}  all runs")
    for bug in ["compile_error"] if options.quick else ["compile_error", "accuracy"]:
        sides = {"repro-minify": lambda bug=bug: run_ours(options, bug),
                 "PyTorch's, not isolated": lambda bug=bug: run_pytorch(options, bug, False)}  # fmt: skip
        if not (options.quick or options.not_isolated):
            sides["PyTorch's, isolated"] = lambda bug=bug: run_pytorch(options, bug, True)
        runs = {tool: [] for tool in sides}
        for _ in range(options.runs):
            for tool, measure in sides.items():
                runs[tool].append(measure())
        for tool, all_runs in runs.items():
            row = {"bug": bug, "tool": tool, **median_of(all_runs)}
            rows.append(row)
            walls = ", ".join(f"{wall:.1f}" for wall in row["walls"])
            print(f"{bug:15} {tool:25} {row['queries']:7} {row['wall']:8.1f} {row['search']:8.1f} "
                  f"{row['nodes']!s:>10}  {walls}", flush=True)  # fmt: skip
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
