#!/usr/bin/env python3
"""Prints, as Markdown, what repro-minify makes of every case in fixtures/.

    scripts/case_table.py                        minimises every case into out/cases, verified, then prints the table
    scripts/case_table.py --only 'big_*'         some of them
    scripts/case_table.py --reports DIR          minimises nothing: reads the tests' DIR/<case>.repro/report.json

Exit code 1 if a case is missing, came out with more operators than it should, or not shown to be 1-minimal, or (without
--no-verify) not verified.
"""

import argparse
import fnmatch
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "fixtures" / "cases"
COLUMNS = (
    "case",
    "backend",
    "nodes before",
    "operators after",
    "after freezing",
    "at most",
    "checks",
    "search s",
    "total s",
    "1-minimal",
    "verified",
)


def minimise(row, binary, output, options):
    """Runs the tool on one case; returns its exit code and the seconds it took."""
    command = [
        binary,
        CASES / row["case"] / "failing.pt",
        "--backend",
        row["backend"],
        "-o",
        output,
        "--force",
        "--quiet",
    ]
    command += ["--grad"] if row["grad"] else []
    start = time.monotonic()
    process = subprocess.run([str(part) for part in command + options], stdout=subprocess.DEVNULL)
    return process.returncode, time.monotonic() - start


def word(value):
    return {True: "yes", False: "**no**", None: "not tried"}[value]


def cells(row, report, wall):
    seconds = report["seconds"]
    # The table's bound counts as fixtures/cases/_lib/check.py does: after freezing, which folds constants.
    operators = report["after"]["operators_after_freezing"]
    at_most = row["operators_at_most"]
    shown = "**not known**" if operators < 0 else operators if operators <= at_most else f"**{operators}**"
    return (
        row["case"],
        row["backend"] + (" --grad" if row["grad"] else ""),
        report["before"]["nodes"],
        report["after"]["operators"],
        shown,
        at_most,
        report["checks"],
        f"{seconds['search']:.1f}",
        f"{wall if wall is not None else seconds['total']:.1f}",
        word(report["one_minimal"]),
        word(report["verified"]),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "repro-minify", type=Path)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="cases whose name matches")
    parser.add_argument("--output", default=ROOT / "out" / "cases", type=Path, help="where the repros go")
    parser.add_argument("--reports", type=Path, metavar="DIR", help="read the reports in DIR, minimise nothing")
    parser.add_argument("--no-verify", action="store_true", help="do not build and run the emitted C++")
    parser.add_argument("--some", action="store_true", help="with --reports: some cases were left out, or not verified")
    arguments = parser.parse_args()

    rows = json.loads((CASES / "expected.json").read_text())
    rows = [row for row in rows if fnmatch.fnmatch(row["case"], arguments.only)]
    options = ["--no-verify"] if arguments.no_verify else []
    folder = arguments.reports or arguments.output
    folder.mkdir(parents=True, exist_ok=True)

    good = True
    print("| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS), sep="\n", flush=True)
    for row in rows:
        output = folder / f"{row['case']}.repro"
        code, wall = (0, None) if arguments.reports else minimise(row, arguments.binary, output, options)
        report_file = output / "report.json"
        if arguments.some and not report_file.exists():
            print(f"| {row['case']} | {row['backend']} | left out |" + " |" * (len(COLUMNS) - 3), flush=True)
            continue
        if code not in (0, 4) or not report_file.exists():
            good = False
            what = "no report" if arguments.reports else f"exit code {code}"
            print(f"| {row['case']} | {row['backend']} | **{what}** |" + " |" * (len(COLUMNS) - 3), flush=True)
            continue
        report = json.loads(report_file.read_text())
        verified = report["verified"] or ((arguments.no_verify or arguments.some) and report["verified"] is None)
        good = good and code == 0 and 0 <= report["after"]["operators_after_freezing"] <= row["operators_at_most"]
        good = good and report["one_minimal"] and verified
        print("| " + " | ".join(str(cell) for cell in cells(row, report, wall)) + " |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
