#!/usr/bin/env python3
"""Measures where the time goes until the first cut, for ever larger models, beside the least that any tool needs: to
load the model and to call it three times.

    phases.py --binary build/release/repro-minify --work FOLDER [-o large.json] [--sizes 1000,3000,10000,30000,100000]

The floor is measured right before and right after each reduction, in a process of its own: on a machine with other work
the ratio holds where the seconds do not. The last line of the table has the exponents: 1 is linear. Fails on no time.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PHASES = ["load", "original check", "flatten", "record", "flat check", "hash", "index", "hints", "first cut"]
FLOOR = """
import sys, time, torch
torch.set_num_threads(1)
begin = time.monotonic()
model = torch.jit.load(sys.argv[1] + "/failing.pt")
inputs = torch.load(sys.argv[1] + "/inputs.pt")
with torch.no_grad():
    for _ in range(3):
        model(*inputs)
print(time.monotonic() - begin)
"""


def floor(folder):
    done = subprocess.run([sys.executable, "-c", FLOOR, str(folder)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def reduce_model(options, folder):
    """The seconds of each phase up to the first cut, and what the report says of the whole."""
    output = folder / "failing.repro"
    command = [str(options.binary), str(folder / "failing.pt"), "--backend", "jit", "-o", str(output), "--force"]
    subprocess.run(command + ["--no-verify", "--no-bisect", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    report = json.loads((output / "report.json").read_text())
    return {phase["phase"]: phase["seconds"] for phase in report["phases"]}, report


def measure(options, nodes):
    folder = options.work / f"nodes_{nodes}"
    if not (folder / "inputs.pt").exists():
        subprocess.run([sys.executable, str(HERE / "make.py"), str(folder), "--nodes", str(nodes)], check=True)
    before = floor(folder)
    phases, report = reduce_model(options, folder)
    least = (before + floor(folder)) / 2
    row = {"nodes": nodes, "operators": report["before"]["operators"], "floor": least}
    row.update({phase: phases.get(phase, 0.0) for phase in PHASES})
    row["to first cut"] = sum(row[phase] for phase in PHASES)
    row["times the floor"] = row["to first cut"] / least
    row["search"] = phases.get("search", 0.0)
    row["checks"] = report["checks"]
    row["operators left"] = report["after"]["operators"]
    return row


def exponent(rows, column):
    first, last = rows[0], rows[-1]
    if len(rows) < 2 or min(first[column], last[column]) <= 0:
        return ""
    return f"{math.log(last[column] / first[column]) / math.log(last['nodes'] / first['nodes']):.2f}"


def table(rows):
    columns = list(rows[0])
    lines = [columns, ["---"] * len(columns)]
    for row in rows:
        lines.append([f"{row[c]:.3g}" if isinstance(row[c], float) else str(row[c]) for c in columns])
    timed = ["floor", *PHASES, "to first cut"]
    lines.append(["exponent" if c == "nodes" else exponent(rows, c) if c in timed else "" for c in columns])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--sizes", default="1000,3000,10000,30000,100000")
    options = parser.parse_args()
    rows = [measure(options, int(size)) for size in options.sizes.split(",")]
    print(table(rows))
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
