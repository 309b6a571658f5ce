#!/usr/bin/env python3
"""Reduces random programs of torch.fx with a planted fault, and prints how small they came and what that took.

    fx_random.py --program build/release/repro-minify --work FOLDER [--first 0] [--count 40] [--jobs 1 2] [--resume]

A program has 3 to 14 random calls: in place, through views, of `_foreach_` functions, of methods, of ATen's operators,
of torch.cond and of an operator that Python registers. The calls of one chain of fx_fault.py, two or three, are put
among them, each made of the one before through the calls between: so many has a minimal program. From what comes out
each call is deleted in turn, by hand, and must not fail then. By one job and by two the result has to be the same, and
with --resume that of a run which was cut short after two seconds and went on. Exit code 1 if one comes out larger, can
still lose a call, or differs; one that does not fail is counted as unseen.
"""

import argparse
import json
import operator
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src/backends/inductor"
sys.argv.insert(1, str(FOLDER))  # as the test takes it
sys.path[:0] = [str(ROOT / "src/python"), str(ROOT / "tests/backends/inductor")]

import fx_fault  # noqa: E402
from inductor_fx_text_random import Choices  # noqa: E402
from repro_minify.graph_program import save_graph  # noqa: E402
from repro_minify.graphs import Graph  # noqa: E402


def add_branch(graph: torch.fx.Graph, root: torch.nn.Module, of: torch.fx.Node) -> torch.fx.Node:
    """torch.cond with a graph for each branch."""
    for name, call in (("yes", "sin"), ("no", "cos")):
        branch = torch.fx.Graph()
        branch.output((branch.call_method(call, (branch.placeholder("x"),)),))
        root.add_module(name, torch.fx.GraphModule(torch.nn.Module(), branch))
    positive = graph.call_function(torch.gt, (graph.call_method("sum", (of,)), 0))
    bodies = (graph.get_attr("yes"), graph.get_attr("no"))
    made = graph.call_function(torch.ops.higher_order.cond, (positive, *bodies, (of,)))
    return graph.call_function(operator.getitem, (made, 0))


def planted(seed: int) -> tuple[torch.fx.GraphModule, list[Any], int]:
    """Returns a random program with a chain in it, its inputs, and the length of the chain."""
    choices, root = Choices(seed), torch.nn.Module()
    graph, random = choices.graph, choices.random
    for node in graph.nodes:
        name = getattr(node.target, "__name__", str(node.target))
        if any(word in name for word in ("rand", "bernoulli", "dropout", "exp", "pow")):
            raise ValueError("it draws random numbers, or its values may grow")
    chain = fx_fault.CHAINS[seed % 2]
    floats = [node for node, value in choices.values.items()
              if isinstance(value, torch.Tensor) and value.dtype == torch.float32]  # fmt: skip
    link = random.choice(floats)
    output = graph.output_node()
    with graph.inserting_before(output):
        for place, call in enumerate(chain):
            link = graph.call_function(call, (link,))
            if place + 1 < len(chain):
                link = add_between(graph, root, link, random.randint(0, 3))
    output.args = ((*output.args[0], link),)
    return torch.fx.GraphModule(root, graph), choices.inputs, len(chain)


def add_between(graph: torch.fx.Graph, root: torch.nn.Module, link: torch.fx.Node, kind: int) -> torch.fx.Node:
    """Calls through which one of the chain reaches the next."""
    if kind == 0:
        return graph.call_function(torch.ops.fx_fault.shifted.default, (link,))
    if kind == 1:
        return add_branch(graph, root, link)
    if kind == 2:
        graph.call_function(torch._foreach_add_, ([link], 0.5))
        return graph.call_method("clone", (link,))
    view = graph.call_method("view", (link, -1))
    graph.call_method("mul_", (view, 0.5))
    return link


def reduced(program: Path, output: Path, given: argparse.Namespace, *more: Any) -> dict[str, Any]:
    command = [given.program, program, "--backend", "inductor", "--python", sys.executable, "--no-bisect", "--quiet"]
    command += ["--import", Path(fx_fault.__file__), "--no-ablation", "--no-verify", "--force", "-o", output, *more]
    began = time.monotonic()
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ended.returncode:
        return {"error": (ended.stderr.strip().splitlines() or ["no message"])[-1]}
    report = json.loads((output / "report.json").read_text())
    return {
        "before": report["before"]["operators"], "after": report["after"]["operators"], "checks": report["checks"],
        "seconds": round(time.monotonic() - began, 1), "source": report["program"]["source"],
    }  # fmt: skip


def fails(module: torch.fx.GraphModule, inputs: list[Any]) -> bool:
    """True if it runs in eager, and gives something else under TorchInductor."""

    def results(call: Any) -> list[Any]:
        given = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
        return [*torch.utils._pytree.tree_leaves(call(*given)), *given]

    try:
        expected = results(module)
    except Exception:
        return False
    torch._dynamo.reset()
    pairs = zip(expected, results(torch.compile(module)), strict=True)
    return any(not torch.allclose(a, b, rtol=1e-3, equal_nan=True) for a, b in pairs if isinstance(a, torch.Tensor))


def without_each_call(archive: Path) -> Iterator[tuple[str, torch.fx.GraphModule]]:
    """The program without one call, for each call and each tensor that it is given, which takes its place."""
    import fx_candidate

    script = torch.jit.load(str(archive))
    count = sum(node.op.startswith("call_") for node in built(script).graph.nodes)
    for place in range(count):
        for operand in range(2):
            module = built(script)
            node = [node for node in module.graph.nodes if node.op.startswith("call_")][place]
            others = [given for given in node.all_input_nodes if given.op != "get_attr"]
            if operand >= len(others) and (operand or node.users):
                continue
            if node.users:
                node.replace_all_uses_with(others[operand])
            module.graph.erase_node(node)
            module.recompile()
            yield node.name, module
    assert fx_candidate.calls_python(script)


def built(script: Any) -> torch.fx.GraphModule:
    import fx_candidate

    module, template = fx_candidate.as_it_stands(script, fx_candidate.holder_of(script))
    fx_candidate.with_results(module.graph, template)
    module.recompile()
    return module


def calls_to_spare(folder: Path) -> list[str]:
    inputs = list(torch.load(folder / "inputs.pt", weights_only=True))
    return [name for name, module in without_each_call(folder / "reduced.pt") if fails(module, inputs)]


def tried(seed: int, given: argparse.Namespace) -> str:
    """Returns whether one program came out right, was not seen to fail, or what is wrong with it."""
    module, inputs, length = planted(seed)
    folder = given.work / str(seed)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "program.py"
    save_graph(Graph(module, tuple(inputs)), program, False, ["import fx_fault"])
    found = [reduced(program, folder / f"jobs-{jobs}", given, "--jobs", jobs) for jobs in given.jobs]
    if all("error" in each for each in found):
        return f"unseen {found[0]['error']}"
    if given.resume:
        reduced(program, folder / "cut", given, "--time-budget", 2)
        found.append(reduced(program, folder / "cut", given, "--resume"))
    print(seed, json.dumps(found), flush=True)
    if len({each.get("source") for each in found}) > 1:
        return "WRONG: it is another by other jobs, or resumed"
    if found[0]["after"] > length:
        return f"WRONG: {found[0]['after']} calls, {length} would do"
    spare = calls_to_spare(folder / f"jobs-{given.jobs[0]}")
    return f"WRONG: it fails without {spare}" if spare else "right"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--resume", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(FOLDER))
    counts: dict[str, int] = {}
    seed = given.first
    while sum(counts.values()) < given.count:
        seed += 1
        try:
            said = tried(seed, given)
        except (ValueError, IndexError):
            continue
        print(seed, said, flush=True)
        counts[said.split()[0]] = counts.get(said.split()[0], 0) + 1
    print(counts)
    return 1 if any(word.startswith("WRONG") for word in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
