#!/usr/bin/env python3
"""Reduces random programs of torch.fx with a planted fault, and prints how small they came and what that took.

    fx_random.py --program build/release/repro-minify --work FOLDER [--first 0] [--count 40] [--jobs 1 2]

A program has 3 to 14 random calls: in place, through views, of `_foreach_` functions, of methods and of ATen's
operators. One more call is a relu, which TorchInductor is told to get wrong (cpp.inject_relu_bug_TESTING_ONLY), so that
one call is all that a minimal program has. By one job and by two the result has to be the same. Exit code 1 if a
program comes out larger, or differs between the two; what does not fail is counted as unseen.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.argv.insert(1, str(ROOT / "src/backends/inductor"))  # as the test takes it
sys.path += [str(ROOT / "src/python"), str(ROOT / "tests/backends/inductor")]

from inductor_fx_text_random import Choices  # noqa: E402
from repro_minify.graph_program import save_graph  # noqa: E402
from repro_minify.graphs import Graph  # noqa: E402


def planted(seed: int) -> tuple[torch.fx.GraphModule, list[Any]]:
    """Returns a random program with a relu, of a value that is negative somewhere, and its inputs."""
    choices = Choices(seed)
    graph = choices.graph
    for node in list(graph.nodes):
        name = getattr(node.target, "__name__", str(node.target))
        if "relu" in name or "rand" in name or "bernoulli" in name or "dropout" in name:
            raise ValueError("it has a relu, or a random number, of its own")
    fitting = [node for node, value in choices.values.items() if isinstance(value, torch.Tensor)]
    of = choices.random.choice([node for node in fitting if choices.values[node].is_floating_point()])
    output = graph.output_node()
    with graph.inserting_before(output):
        relu = graph.call_function(torch.relu, (of,))
    output.args = ((*output.args[0], relu),)
    return torch.fx.GraphModule(torch.nn.Module(), graph), choices.inputs


PLANTED = "--inductor-config=cpp.inject_relu_bug_TESTING_ONLY=accuracy"


def reduced(program: Path, output: Path, given: argparse.Namespace, jobs: int) -> dict[str, Any]:
    command = [given.program, program, "--backend", "inductor", "--python", sys.executable, PLANTED, "--no-bisect"]
    command += ["--no-ablation", "--no-verify", "--quiet", "--force", "--jobs", jobs, "-o", output]
    began = time.monotonic()
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ended.returncode:
        return {"error": (ended.stderr.strip().splitlines() or ["no message"])[-1]}
    report = json.loads((output / "report.json").read_text())
    return {
        "before": report["before"]["operators"], "after": report["after"]["operators"], "checks": report["checks"],
        "seconds": round(time.monotonic() - began, 1), "source": report["program"]["source"],
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    tried, bad, unseen, seed = 0, 0, 0, given.first
    while tried < given.count:
        seed += 1
        try:
            module, inputs = planted(seed)
        except (ValueError, IndexError):
            continue
        folder = given.work / str(seed)
        folder.mkdir(parents=True, exist_ok=True)
        save_graph(Graph(module, tuple(inputs)), folder / "program.py", grad=False)
        found = [reduced(folder / "program.py", folder / f"jobs-{jobs}", given, jobs) for jobs in given.jobs]
        tried += 1
        unseen += all("error" in each for each in found)
        wrong = len({each.get("source") for each in found}) > 1 or found[0].get("after", 1) != 1
        bad += wrong
        print(seed, "WRONG" if wrong else "right", json.dumps(found), flush=True)
    print(f"{tried} programs, {bad} larger than one call or other by other jobs, {unseen} unseen")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
