#!/usr/bin/env python3
"""Looks for what TorchInductor gets wrong: small programs by seed, eager against torch.compile, in the PyTorch at hand.

    PYTHON harvest.py --seed 1 --batches 200 --out FOLDER            every difference: a line of FOLDER/found.jsonl
    PYTHON harvest.py --seed 0 ...                                   every piece alone, on each dtype, in turn
    PYTHON harvest.py --save NAME --out FOLDER                       its model.pt, inputs.pt, for repro-minify
    PYTHON harvest.py --again FOLDER/found.jsonl --out OTHER         the same programs in another PyTorch

A batch of expressions is compiled at once, in a process of its own: one that crashes or hangs is cut in two until what
does it is alone. Batches that were asked before are not asked again. docs/found.md says what came of it.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch

import compared
import probes

SIZE = 60
PATIENCE = 600  # seconds for a batch


def work(batch: probes.Batch, path: Path) -> None:
    rows = [{"expressions": one.expressions, "message": one.message} for one in compared.differences(batch)]
    path.write_text(json.dumps(rows))


def rows_of(batch: probes.Batch, folder: Path, patience: float) -> list[dict[str, Any]]:
    """Returns the differences in a batch; if its process dies or hangs, those in its halves."""
    path = folder / f"answer-{os.getpid()}.json"
    path.unlink(missing_ok=True)
    child = multiprocessing.get_context("fork").Process(target=work, args=(batch, path))
    child.start()
    child.join(patience)
    if child.is_alive():
        child.kill()
        child.join()
    if path.exists():
        found = json.loads(path.read_text())
        return [row | {"name": batch.name, "setting": batch.setting} for row in found]
    if len(batch.expressions) == 1:
        how = "hangs" if child.exitcode == -9 else f"the process ends with {child.exitcode}"
        return [{"expressions": batch.expressions, "message": how, "name": batch.name, "setting": batch.setting}]
    middle = len(batch.expressions) // 2
    halves = batch.expressions[:middle], batch.expressions[middle:]
    return [row for half in halves for row in rows_of(replace(batch, expressions=half), folder, patience / 2)]


def warm_up() -> None:
    """Imports, and finds out about the compiler, what every child otherwise would for itself. One thread: a child of a
    process that has run a pool of them can hang."""
    torch.set_num_threads(1)
    torch.compile(lambda x: x + 1)(torch.ones(40))


def search(arguments: argparse.Namespace) -> None:
    warm_up()
    done_path, found_path = arguments.out / "done", arguments.out / "found.jsonl"
    done = set(done_path.read_text().split()) if done_path.exists() else set()
    ends = time.monotonic() + arguments.seconds
    for number in range(arguments.first, arguments.first + arguments.batches):
        batch = probes.batch(arguments.seed, number, arguments.size)
        if batch is None or time.monotonic() > ends:
            break
        if batch.name in done or not fnmatch(batch.setting, arguments.only):
            continue
        with found_path.open("a") as file:
            for index, row in enumerate(rows_of(batch, arguments.out, PATIENCE)):
                row["name"] = f"{row['name']}_{index}"
                file.write(json.dumps(row) + "\n")
                print(f"{row['name']}  {row['setting']}\n    {row['expressions'][0]}\n    {row['message']}", flush=True)
        with done_path.open("a") as file:
            file.write(batch.name + "\n")


def again(arguments: argparse.Namespace) -> None:
    """Each program that was found elsewhere, alone."""
    warm_up()
    for line in arguments.again.read_text().splitlines():
        row = json.loads(line)
        found = rows_of(batch_of(row["name"], row["expressions"]), arguments.out, PATIENCE)
        answer = {"name": row["name"], "expressions": row["expressions"], "there": row["message"]}
        answer["here"] = [each["message"] for each in found]
        with (arguments.out / "again.jsonl").open("a") as file:
            file.write(json.dumps(answer) + "\n")
        print(row["name"], row["expressions"][0], answer["here"], sep="  ", flush=True)


def batch_of(name: str, expressions: list[str]) -> probes.Batch:
    seed, number = name.removeprefix("s").split("_")[:2]
    batch = probes.batch(int(seed), int(number), SIZE)
    assert batch is not None
    return replace(batch, expressions=tuple(expressions))


def save(arguments: argparse.Namespace) -> None:
    rows = map(json.loads, (arguments.out / "found.jsonl").read_text().splitlines())
    row = next((row for row in rows if row["name"] == arguments.save), None)
    if row is None:
        sys.exit(f"{arguments.out / 'found.jsonl'} has no {arguments.save}: give a name that stands in it.")
    batch = batch_of(row["name"], row["expressions"])
    folder = arguments.out / arguments.save
    folder.mkdir(exist_ok=True)
    module = probes.Function(batch.expressions)
    torch.jit.trace(module, probes.fresh(batch.inputs), check_trace=False).save(str(folder / "model.pt"))
    torch.save(batch.inputs, folder / "inputs.pt")
    (folder / "probe.txt").write_text(f"{batch.setting}\n{row['message']}\n{probes.as_text(batch.expressions)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="batches by their setting: '*of uint8*'")
    parser.add_argument("--first", type=int, default=0, help="the number of the first batch")
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--size", type=int, default=SIZE, help="expressions in a batch")
    parser.add_argument("--seconds", type=float, default=1e9, help="no batch is begun later")
    parser.add_argument("--again", type=Path, metavar="FOUND")
    parser.add_argument("--save", metavar="NAME")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    (again if arguments.again else save if arguments.save else search)(arguments)


if __name__ == "__main__":
    main()
