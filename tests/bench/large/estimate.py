#!/usr/bin/env python3
"""Compares every "N to M s left" that reductions print with how long it really took.

    estimate.py --binary build/release/repro-minify --work FOLDER [--models FOLDER...] [--only TEXT] [--slow SECONDS]

Reduces the cases of fixtures/ and further models (folders with failing.pt and inputs.pt, as make.py makes them, under
jit). It reads the lines that are printed where there is no terminal. --slow lets each check of the cases wait for so
long, through an oracle: most of them take milliseconds, too short to wait for. Where half a second or less is left a
range may say what it likes. Fails on no range.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
CASES = ROOT / "fixtures" / "cases"
LINE = re.compile(
    r"(\d+) checks, best so far \d+ operators \(\d+ nodes\), ([\d.]+) s(?:, (about|up|\d+) (?:to )?(\d+) s left)?"
)
TO_LOOK_AT = 0.5  # seconds left


def text_of(command):
    """Returns the exit code and what the command prints without a terminal: a line for each step forward, and one each
    two seconds."""
    process = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return process.returncode, process.stderr.decode(errors="replace")


def shown(text):
    """(checks, elapsed, (least, most) or None) of each time that the line was drawn."""
    return [(int(a), float(b), ends(c, d) if d else None) for a, b, c, d in LINE.findall(text)]


def ends(least, most):
    return float({"about": most, "up": 0}.get(least, least)), float(most)


def off_by(left, really):
    """How many times the range that was shown lies beside what it really took: 1 within it."""
    least, most = left
    return max(1.0, least / really, really / most)


def measure(name, command, output):
    code, text = text_of([str(part) for part in command])
    report = json.loads((output / "report.json").read_text())
    end = report["seconds"]["search"]
    lines = shown(text)
    ratios = []
    for checks, elapsed, left in lines:
        really = end - elapsed
        if left is not None and checks >= 10 and really > TO_LOOK_AT:
            ratios.append(off_by(left, really))
    late = [left[0] for _, elapsed, left in lines if left is not None and end - elapsed <= TO_LOOK_AT]
    return {
        "name": name,
        "seconds": round(end, 2),
        "checks": report["checks"],
        "lines": len(lines),
        "numbers": sum(left is not None for _, _, left in lines),
        "worst": round(max(ratios), 2) if ratios else None,
        "median": round(statistics.median(ratios), 2) if ratios else None,
        "off by 3": sum(ratio > 3 for ratio in ratios),
        "number in the last half second": max(late) if late else None,
        "exit": code,
        "shown": lines,
    }


def slow_oracle(options, case):
    """Asks `run`, and waits."""
    script = options.work / f"{case['case']}.sh"
    grad = " --grad" if case["grad"] else ""
    script.write_text(
        f"#!/bin/sh\nsleep {options.slow}\n"
        f"{options.binary.resolve()} run \"$1\" --backend {case['backend']}{grad} --quiet >/dev/null 2>&1\n"
        "[ $? -eq 1 ]\n"
    )
    script.chmod(0o755)
    return script


def case_command(options, case, output):
    command = [options.binary, CASES / case["case"] / "failing.pt", "-o", output, "--force", "--no-verify", "--jobs", 1]
    command += ["--no-bisect"]
    if options.slow:
        return command + ["--oracle", slow_oracle(options, case)]
    return command + ["--backend", case["backend"]] + (["--grad"] if case["grad"] else [])


def rows(options):
    for case in json.loads((CASES / "expected.json").read_text()):
        if options.only in case["case"]:
            output = options.work / f"{case['case']}.repro"
            yield measure(case["case"], case_command(options, case, output), output)
    for model in options.models:
        output = options.work / f"{model.name}.repro"
        command = [options.binary, model / "failing.pt", "--backend", "jit", "-o", output, "--force", "--no-verify"]
        yield measure(model.name, command + ["--no-bisect"], output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--models", type=Path, nargs="*", default=[])
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--slow", type=float, default=0, help="seconds that each check waits")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    done = []
    for row in rows(options):
        done.append(row)
        print(" | ".join(f"{key} {value}" for key, value in row.items() if key != "shown"), flush=True)
    judged = [row for row in done if row["worst"] is not None]
    worst = max((row["worst"] for row in judged), default=None)
    print(f"{len(done)} reductions, {sum(row['numbers'] for row in done)} numbers shown in {len(judged)};", end=" ")
    print(f"off by more than 3: {sum(row['off by 3'] for row in done)}; worst {worst}")
    if options.output:
        options.output.write_text(json.dumps(done) + "\n")
    sys.exit(0)
