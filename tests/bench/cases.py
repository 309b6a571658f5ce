#!/usr/bin/env python3
"""Runs repro-minify on every case of fixtures/cases, without verification, and writes one JSON row for each.

    cases.py --binary build/release/repro-minify --work FOLDER -o cases.json [--quick]

One job, so that the time outside the checks is what is left of the search when the checks are taken out. Cases whose
check takes 50 ms or more are reduced once more with two jobs. --quick: the small cases only.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "fixtures" / "cases"
WORTH_TWO_JOBS = 50  # milliseconds a check


def reduce_case(binary, case, output, jobs):
    """Exit code and wall time of one run."""
    command = [binary, CASES / case["case"] / "failing.pt", "--backend", case["backend"], "-o", output]
    command += ["--force", "--quiet", "--no-verify", "--jobs", jobs]
    command += ["--grad"] if case["grad"] else []
    begin = time.monotonic()
    process = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL)
    return process.returncode, time.monotonic() - begin


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors_in(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_in(part)


def elements_left(repro):
    """Returns the number of elements in the inputs, the parameters and the buffers."""
    inputs = torch.load(repro / "inputs.pt", weights_only=True)
    state = torch.jit.load(str(repro / "reduced.pt")).state_dict()
    return sum(tensor.numel() for tensor in tensors_in([inputs, state]))


def row_of(case, repro, wall):
    report = json.loads((repro / "report.json").read_text())
    source = (repro / "repro.cpp").read_text()
    search, checking = report["seconds"]["search"], report["seconds"]["checks"]
    checks = max(report["checks"], 1)
    return {
        "name": case["case"],
        "tool": "repro-minify",
        "backend": case["backend"] + (" --grad" if case["grad"] else ""),
        "nodes": report["before"]["nodes"],
        "operators_at_most": case["operators_at_most"],
        "operators": report["after"]["operators"],
        "operators_after_freezing": report["after"]["operators_after_freezing"],  # what the limit is on
        "elements": elements_left(repro),
        "data_file": 'beside("inputs.pt")' in source or 'beside("reduced.pt")' in source,
        "checks": report["checks"],
        "wall": round(wall, 3),
        "search": round(search, 3),
        "checks_per_second": round(report["checks"] / max(search, 1e-9), 2),
        "ms_a_check": round(1000 * checking / checks, 3),
        "outside_ms_a_check": round(1000 * (search - checking) / checks, 3),
        "one_minimal": report["one_minimal"],
    }


def measure(options, case):
    repro = options.work / f"{case['case']}.repro"
    code, wall = reduce_case(options.binary, case, repro, 1)
    if code != 0:
        return {"name": case["case"], "tool": "repro-minify", "backend": case["backend"], "exit_code": code}
    return row_of(case, repro, wall)


def two_jobs(options, case, row):
    """The case again with two jobs."""
    repro = options.work / f"{case['case']}-2-jobs.repro"
    code, _ = reduce_case(options.binary, case, repro, 2)
    if code != 0:
        row["exit_code_with_two_jobs"] = code
        return
    search = json.loads((repro / "report.json").read_text())["seconds"]["search"]
    row["search_with_two_jobs"] = round(search, 3)
    row["speedup_of_two_jobs"] = round(row["search"] / search, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "release" / "repro-minify")
    parser.add_argument("--work", type=Path, default=ROOT / "out" / "bench" / "cases")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    cases = json.loads((CASES / "expected.json").read_text())
    if options.quick:
        cases = [case for case in cases if case["nodes"] < 20]
    rows = []
    for case in cases:
        rows.append(measure(options, case))
        print(f"{case['case']}: {rows[-1].get('checks', 'no result')}", file=sys.stderr, flush=True)
        if rows[-1].get("ms_a_check", 0) >= WORTH_TWO_JOBS:
            two_jobs(options, case, rows[-1])
    options.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
