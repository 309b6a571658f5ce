#!/usr/bin/env python3
"""Runs PyTorch's minifier (torch._functorch.fx_minifier) on the graphs of graphs.py and writes one JSON row for each.

    run_fx_minifier.py [--quick] [--rows GLOB] [--enough OURS] [--limit SECONDS] [--jobs N] -o rows.json
    run_fx_minifier.py --export FOLDER [--quick] [--rows GLOB]
    run_fx_minifier.py --scale FOLDER [--quick]

--export minimises nothing: it writes the same programs as TorchScript for bench_programs, and programs.json, which says
what each one's failure needs. --scale does so for long chains with one planted failure.

A row can end before the minifier does, with the smallest program seen by then; it says why ("stopped"). --enough: OURS
is what bench_programs wrote of the same rows; where what is needed is scattered, which takes the minifier minutes to
hours, it ends once it has asked graphs.TIMES our queries: more would change no answer. --limit ends a row by time.
"""

import argparse
import contextlib
import fnmatch
import functools
import io
import json
import logging
import multiprocessing
import sys
import time
from pathlib import Path

import torch
from torch._functorch.fx_minifier import minifier

import graphs


class Stopped(Exception):
    """Says why."""


class Examination:
    """Counts the questions and times their answers; keeps the smallest program that failed. Throws Stopped."""

    def __init__(self, row, limit, enough):
        self.row = row
        self.limit = limit
        self.enough = enough
        self.begin = time.perf_counter()
        self.queries = 0
        self.seconds = 0.0
        self.smallest = None

    def __call__(self, module, inputs):
        begin = time.perf_counter()
        if self.enough and self.queries >= self.enough:
            raise Stopped("enough")
        if self.limit and begin - self.begin > self.limit:
            raise Stopped(f"{self.limit:g} s")
        failing = graphs.fails(self.row.oracle, module.graph)
        self.queries += 1
        if failing:
            size = graphs.size_of(module.graph, self.row.unit)
            self.smallest = min(size, self.smallest or size)
        self.seconds += time.perf_counter() - begin
        return failing


def minimise(row, limit, enough):
    torch.manual_seed(0)
    module, inputs = row.build()
    before = graphs.size_of(module.graph, row.unit)
    examination = Examination(row, limit, enough)
    stopped = ""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            reduced, _ = minifier(module, inputs, examination, dump_state=lambda *_: None)
            left = graphs.size_of(reduced.graph, row.unit)
        except Stopped as reason:
            left, stopped = examination.smallest, str(reason)
    return {
        "name": row.name,
        "tool": "fx_minifier",
        "nodes": before,
        "unit": row.unit,
        "shape": row.shape,
        "needed": row.needed,
        "left": left,
        "queries": examination.queries,
        "times": graphs.TIMES[row.shape],
        "wall": round(time.perf_counter() - examination.begin, 3),
        "outside_oracle": round(time.perf_counter() - examination.begin - examination.seconds, 3),
        "stopped": stopped,
    }


def minimise_named(name, limit, ours):
    row = next(row for row in graphs.rows() if row.name == name)
    is_long = row.shape in ("scattered", "path")
    return minimise(row, limit, graphs.TIMES[row.shape] * ours.get(name, 0) if is_long else 0)


def prepare():
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)  # the minifier's own commentary


def export(row, folder):
    torch.manual_seed(0)
    module, inputs = row.build()
    # Node by node: of a function with thousands of local variables, tracing looks through all at each operator.
    run = torch.fx.Interpreter(module).run
    traced = torch.jit.trace(lambda *operands: run(*operands), tuple(inputs), check_trace=False)
    path = folder / f"{row.name}.pt"
    traced.save(str(path))
    torch.save(tuple(inputs), str(path.with_suffix(".inputs.pt")))
    return {
        "name": row.name,
        "model": path.name,
        "inputs": path.with_suffix(".inputs.pt").name,
        "oracle": row.oracle.as_data(),
        "needed": row.needed,
        "unit": row.unit,
        "shape": row.shape,
    }


def export_all(rows, folder):
    folder.mkdir(parents=True, exist_ok=True)
    programs = [export(row, folder) for row in rows]
    (folder / "programs.json").write_text(json.dumps(programs, indent=1) + "\n")


def scale_rows(quick):
    sizes = (500, 2000) if quick else (500, 2000, 10000, 50000)
    for size in sizes:
        positions = frozenset([size // 3])
        yield graphs.Row(
            f"scale-{size}",
            lambda size=size, positions=positions: graphs.planted_residual(size, positions),
            graphs.Oracle("count", (graphs.PLANTED,)),
            1,
            "operators",
            "one",
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out what takes more than ten seconds")
    parser.add_argument("--rows", default="*", help="only rows whose name matches")
    parser.add_argument("--limit", type=float, default=0, help="seconds for a row; 0: none")
    parser.add_argument("--enough", type=Path, metavar="OURS", help="our rows: how many queries decide")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--export", type=Path)
    parser.add_argument("--scale", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    prepare()
    rows = [row for row in graphs.rows() if fnmatch.fnmatch(row.name, options.rows)]
    if options.scale:
        return export_all(scale_rows(options.quick), options.scale)
    if options.export:
        return export_all(rows, options.export)
    names = [row.name for row in rows if not (options.quick and row.slow)]
    ours = {row["name"]: row["queries"] for row in json.loads(options.enough.read_text())} if options.enough else {}
    with multiprocessing.Pool(options.jobs, prepare) as pool:
        results = []
        work = functools.partial(minimise_named, limit=options.limit, ours=ours)
        for result in pool.imap(work, names, chunksize=1):
            results.append(result)
            print(
                f"{result['name']:24}{result['nodes']:6} -> {result['left']:4} (needed {result['needed']})"
                f"{result['queries']:7} queries {result['wall']:8.2f} s"
                + (f"  stopped: {result['stopped']}" if result["stopped"] else ""),
                file=sys.stderr,
                flush=True,
            )
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
