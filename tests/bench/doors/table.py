#!/usr/bin/env python3
"""Shows the outcome of each door: reduces and verifies its models, and prints each refusal with its sentence.

    table.py --binary build/release/repro-minify --work OUT -o doors.json [--only PART]

OUT is what make.py made. Prints two Markdown tables, a row as soon as it is there. Reductions lie in OUT/results;
seconds are those of the whole process, without looking for the guilty step (--no-bisect). Operators are counted by the
program, before and after.
"""

import argparse
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
Row = dict[str, Any]

REDUCED = """| door | model | backend | operators before -> after | checks | seconds | verified | repro.py |
|---|---|---|---|---|---|---|---|"""
REFUSED = """| refused | exit code | sentence |
|---|---|---|"""


def ask(options: argparse.Namespace, row: Row, output: Path) -> Row:
    """Starts the program on one model: `row` with its exit code, last words and seconds."""
    shutil.rmtree(output, ignore_errors=True)
    command = [options.binary, row["path"], "--backend", row["backend"], *row.get("options", []), "--no-ablation",
               "--no-bisect", "--quiet", "-o", output]  # fmt: skip
    began = time.monotonic()
    finished = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    seconds = time.monotonic() - began
    words = [line for line in finished.stderr.splitlines() if line.strip()]
    return {**row, "exit_code": finished.returncode, "said": words, "wall": round(seconds, 1)}


def reduced(options: argparse.Namespace, row: Row) -> Row:
    output = options.work / "results" / f"{row['door']} {row['model']}".replace(" ", "_").replace(",", "")
    row = ask(options, row, output)
    report = output / "report.json"
    if not report.exists():
        return row
    found = json.loads(report.read_text())
    kept = ("before", "after", "checks", "seconds", "verified", "verification", "repro_py", "verdict", "converted")
    program = found["program"]["operators"]
    return {**row, **{key: found.get(key) for key in kept}, "program": program}


def cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def in_a_row(*cells: object) -> str:
    return "| " + " | ".join(cell(one) for one in cells) + " |"


def reduced_row(row: Row) -> str:
    start = (row["door"], row["model"], row["backend"])
    if "after" not in row:
        said = " ".join(row["said"][-2:])
        return in_a_row(*start, "-", "-", row["wall"], f"no: exit code {row['exit_code']}: {said}", "-")
    counts = f"{row['before']['operators']} -> {row['after']['operators']}"
    verified = "yes" if row["verified"] else f"no: exit code {row['exit_code']}: {row['verification']}"
    python = row["repro_py"]
    ran = "-" if not python else "yes" if python["verified"] else f"no: {python['verification']}"
    return in_a_row(*start, counts, row["checks"], row["wall"], verified, ran)


def refused_row(row: Row) -> str:
    return in_a_row(row["model"], row["exit_code"], " ".join(row["said"]))


def save(options: argparse.Namespace, rows: list[Row]) -> None:
    """After each row, so that a run that is stopped leaves what it has."""
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "release" / "repro-minify")
    parser.add_argument("--work", type=Path, required=True, help="what make.py made")
    parser.add_argument("--only", default="", help="a part of the door or of the model's name")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    options.work = options.work.resolve()
    material: dict[str, list[Row]] = json.loads((options.work / "material.json").read_text())
    asked = [row for rows in material.values() for row in rows if options.only in f"{row['door']} {row['model']}"]
    rows: list[Row] = []
    for head, row_of in ((REDUCED, reduced_row), (REFUSED, refused_row)):
        print(head, flush=True)
        for row in asked:
            if (row["door"] == "refused") == (head is REFUSED):
                refusal = head is REFUSED
                rows.append(ask(options, row, options.work / "results" / "none") if refusal else reduced(options, row))
                print(row_of(rows[-1]), flush=True)
                save(options, rows)
        print(flush=True)


if __name__ == "__main__":
    main()
