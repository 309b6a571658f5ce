"""Tries archives as strangers may make them, and looks for what a model must never do.

    fuzz.py --loader LOAD_ARCHIVES --fixtures FOLDER [--count N] [--seconds S] [--seed N] [--keep FOLDER]
            [--program REPRO_MINIFY]

A finding is a signal that ends the main process, an internal error, a hang, memory over the limit, a file outside the
folder, a process left behind. Archive number N of a seed is the same each time. The last line is the count of what was
tried; exit code 1 if there is a finding. With --program each that can be loaded is also checked by the whole program.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from archives import Archive, mutate

LOAD_SECONDS, LOAD_MIB = 10, 1024
# Twice the limit of a child, and what the process itself takes.
MOST_SECONDS, MOST_MIB = 4 * LOAD_SECONDS, 2 * LOAD_MIB + 1024


def seeds(fixtures: Path) -> list[Path]:
    """Small models with their inputs beside them."""
    models = sorted(fixtures.glob("**/failing.pt")) + sorted(fixtures.glob("**/model.pt"))
    return [model for model in models if model.stat().st_size < 200_000]


def make(folder: Path, model: Path, rng: random.Random, canary: Path) -> str:
    """A folder with a model and inputs, either of them changed."""
    folder.mkdir()
    inputs = model.with_name("inputs.pt")
    archive = Archive.read(model)
    what = "inputs:" if rng.random() < 0.2 and inputs.exists() else "model:"
    if what == "inputs:":
        changed = Archive.read(inputs)
        what += mutate(changed, rng, str(canary))
        changed.write(folder / "inputs.pt", rng)
    else:
        what += mutate(archive, rng, str(canary))
        if inputs.exists():
            shutil.copy(inputs, folder / "inputs.pt")
    archive.write(folder / "failing.pt", rng)
    return what


def problem_of(ended: dict, canary: Path, before: bytes) -> str:
    if ended["signal"]:
        return f"signal {ended['signal']}"
    if ended["exit"] not in (0, 2):
        return f"exit code {ended['exit']}"
    if ended["seconds"] > MOST_SECONDS:
        return f"{ended['seconds']:.0f} s"
    if ended["peak_mib"] > MOST_MIB:
        return f"{ended['peak_mib']} MiB"
    if ended["left_behind"]:
        return "a process left behind"
    if canary.read_bytes() != before:
        return "a file outside the folder was written"
    return ""


def check_by_program(program: str, model: Path, environment: dict[str, str]) -> dict:
    """The whole program, with a check under a backend."""
    begin = time.monotonic()
    words = [program, "run", str(model), "--backend", "freeze", "--json"]
    words += ["--timeout", str(LOAD_SECONDS), "--memory-limit", f"{LOAD_MIB}MiB"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        try:
            out, _ = process.communicate(timeout=8 * MOST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return {"signal": 9, "exit": -1, "seconds": 8 * MOST_SECONDS, "peak_mib": 0, "left_behind": False}
    code = process.returncode
    fine = code in (0, 1, 2, 3)
    if code in (0, 1):
        try:
            json.loads(out)
        except ValueError:
            fine = False
    return {
        "signal": -min(code, 0),
        "exit": 0 if fine else code or 99,
        "seconds": (time.monotonic() - begin) / 8,
        "peak_mib": 0,
        "left_behind": False,
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--loader", required=True)
    parser.add_argument("--program")
    parser.add_argument("--fixtures", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("findings"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of zipfile: two records of one name are what is wanted
    models = seeds(options.fixtures)
    counts = {"tried": 0, "loaded": 0, "refused": 0, "checked": 0, "findings": 0}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        temporary = place / "tmp"
        temporary.mkdir()
        canary = place / "canary"
        canary.write_bytes(b"0123456789abcdef")
        before = canary.read_bytes()
        environment = {
            **os.environ,
            "TMPDIR": str(temporary),
            "XDG_CACHE_HOME": str(place / "cache"),
            "REPRO_MINIFY_PRECOMPILED_HEADERS": "off",
        }
        with subprocess.Popen(
            [options.loader, str(LOAD_SECONDS), str(LOAD_MIB)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        ) as loader:
            asked, answers = loader.stdin, loader.stdout
            assert asked and answers
            for number in range(options.first, options.first + options.count):
                if time.monotonic() - begin > options.seconds:
                    break
                rng = random.Random(f"{options.seed}/{number}")
                folder = place / "model"
                what = make(folder, rng.choice(models), rng, canary)
                print(folder / "failing.pt", file=asked, flush=True)
                answer = answers.readline()
                if not answer:
                    print(f"{number}: {what}: the loader itself is gone")
                    return 1
                ended = json.loads(answer)
                problem = problem_of(ended, canary, before)
                counts["tried"] += 1
                counts["loaded" if ended["exit"] == 0 else "refused"] += 1
                if not problem and ended["exit"] == 0 and options.program:
                    counts["checked"] += 1
                    ended = check_by_program(options.program, folder / "failing.pt", environment)
                    problem = problem_of(ended, canary, before)
                    problem = problem and "the program: " + problem
                if problem:
                    counts["findings"] += 1
                    kept = options.keep / f"{options.seed}-{number}"
                    shutil.copytree(folder, kept, dirs_exist_ok=True)
                    canary.write_bytes(before)
                    print(f"{number}: {what}: {problem} ({kept})", flush=True)
                shutil.rmtree(folder)
            asked.close()
        left = [entry.name for entry in temporary.iterdir() if not entry.name.startswith("torchinductor")]
        if left:
            counts["findings"] += 1
            print(f"left in the temporary folder: {left[:5]}")
    seconds = time.monotonic() - begin
    print(", ".join(f"{name} {count}" for name, count in counts.items()) + f"; {seconds:.0f} s")
    return 1 if counts["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
