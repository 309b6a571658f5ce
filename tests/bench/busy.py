#!/usr/bin/env python3
"""Shows if results depend on load: reduces every case of fixtures/cases on the machine as it is, and again with busy
processes beside it.

    tests/bench/busy.py                          all cases, eight busy processes
    tests/bench/busy.py --only 'jit_*' --busy 16 some of them, more load

Prints a table as it goes. Exit code 1 where reduced.pt, inputs.pt or the number of checks differs, or a run fails.
"""

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "fixtures" / "cases"
SPIN = "while True: sum(i * i for i in range(10000))"


class Load:
    """So many processes that do nothing but keep the processors busy, ended when it is left."""

    def __init__(self, count):
        self.count, self.processes = count, []

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def reduce(row, binary, folder, options):
    """(exit code, seconds, reduced.pt, inputs.pt, checks)"""
    command = [
        binary,
        CASES / row["case"] / "failing.pt",
        "--backend",
        row["backend"],
        "-o",
        folder,
        "--quiet",
        "--no-verify",
    ]
    command += (["--grad"] if row["grad"] else []) + options
    # The uninitialised memory that a case reads has to be the same in both runs.
    environment = {**os.environ, "MALLOC_PERTURB_": "85"} if row.get("reads_unwritten_memory") else None
    begin = time.monotonic()
    process = subprocess.run(
        [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    seconds = time.monotonic() - begin
    if process.returncode != 0:
        return process.returncode, seconds, process.stderr.decode(errors="replace").strip()[-200:], None, None
    checks = json.loads((folder / "report.json").read_text())["checks"]
    return 0, seconds, (folder / "reduced.pt").read_bytes(), (folder / "inputs.pt").read_bytes(), checks


def verdict(alone, loaded):
    if alone[0] or loaded[0]:
        return f"FAILED (exit codes {alone[0]}, {loaded[0]})"
    differing = [name for name, at in (("reduced.pt", 2), ("inputs.pt", 3), ("checks", 4)) if alone[at] != loaded[at]]
    return "DIFFERS: " + ", ".join(differing) if differing else "same"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="cases of these names")
    parser.add_argument("--busy", type=int, default=8, help="processes beside it")
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "release" / "repro-minify")
    parser.add_argument("options", nargs="*", help="for repro-minify, after --")
    given = parser.parse_args()
    rows = [
        row for row in json.loads((CASES / "expected.json").read_text()) if fnmatch.fnmatch(row["case"], given.only)
    ]
    print(
        f"| case | backend | checks | alone s | with {given.busy} busy s | reduced.pt, inputs.pt, checks |\n"
        "|---|---|---|---|---|---|"
    )
    bad = 0
    for row in rows:
        with tempfile.TemporaryDirectory() as folder:
            alone = reduce(row, given.binary, Path(folder) / "alone.repro", given.options)
            with Load(given.busy):
                loaded = reduce(row, given.binary, Path(folder) / "loaded.repro", given.options)
        result = verdict(alone, loaded)
        bad += result != "same"
        print(
            f"| {row['case']} | {row['backend']} | {alone[4]} | {alone[1]:.1f} | {loaded[1]:.1f} | {result} |",
            flush=True,
        )
    print(f"\n{len(rows) - bad} of {len(rows)} the same")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
