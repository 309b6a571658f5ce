#!/usr/bin/env python3
"""Runs the tool on a CUDA device, real or pretended, and writes one JSON and one table: see scripts/gpu_rows.sh.

    rows.py --program build/release/repro-minify --python PYTHON --work FOLDER -o rows.json [--pretend LIBRARY]

Every row is one run of the program in a folder of its own: five reductions with nothing beside them, one of them by
four jobs; models whose candidates lose the card's context, or find its memory taken; functions that are reduced from
Python or from a .pt2 under TorchInductor; how fast eager, inductor-like and TorchInductor are; and the 42 cases under
float16 autocast, under bfloat16 and without. A row that would begin after --budget is left out, and is said to be. No
time fails anything; a row whose repro does not verify, or that ends in another way than it
may, makes the exit code 1. Contexts are counted by contexts.c, which is compiled here.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CASES = ROOT / "fixtures" / "cases"
ALONE = ("freeze_linear_bn_3d", "freeze_conv_bn_unbatched_exc", "autocast_lerp_exc", "jit_type_as_dce",
         "static_int_div_exc")  # fmt: skip
ENDED = {0: "reduced", 1: "does not fail", 124: "out of time"}


@dataclass
class Row:
    """One run: which, how it ended, and what its report says."""

    group: str
    name: str
    command: list[str] = field(repr=False)
    ended: str = ""
    said: str = ""  # the last line of standard error, where it was not reduced
    seconds: float = 0.0
    contexts: int = 0  # processes that used the device
    memory: int = 0  # MiB of the card in use, at most, by all that ran meanwhile
    facts: dict[str, Any] = field(default_factory=dict)


class Card:
    """Asks the driver every second how much of the card's memory is in use; `peak` is the most, in MiB."""

    def __init__(self) -> None:
        self.peak, self._ended = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Card":
        if shutil.which("nvidia-smi"):
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _watch(self) -> None:
        question = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        while not self._ended.wait(1.0):
            asked = subprocess.run(question, capture_output=True, text=True)
            self.peak = max([self.peak, *(int(word) for word in asked.stdout.split() if word.isdigit())])


class Rows:
    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.made, self.began = given, list[Row](), time.monotonic()
        self.environment = {**os.environ, "REPRO_MINIFY_PROGRAM": str(given.program)}
        self.environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src/python"), str(HERE)])
        self.environment["REPRO_MINIFY_PYTHON"] = str(given.python)
        self.environment["XDG_CACHE_HOME"] = str(given.work.absolute() / "cache")
        given.work.mkdir(parents=True, exist_ok=True)
        self.counted = Path(self.environment["XDG_CACHE_HOME"]) / "repro-minify/kernels/torchinductor"
        self.counted.mkdir(parents=True, exist_ok=True)
        self.counter = given.pretend or counter_in(given.work)

    def folder(self, row: Row) -> Path:
        return Path(self.given.work) / row.group / row.name

    def run(self, row: Row) -> Row:
        """Runs it, for as long as one row may take, and fills in what its report says."""
        folder, begin = self.folder(row), time.monotonic()
        folder.parent.mkdir(parents=True, exist_ok=True)
        command = ["timeout", "--kill-after=10", str(self.given.limit), *row.command]
        environment = dict(self.environment)
        if self.counter and (row.command[0] == str(self.given.program) or not self.given.pretend):
            # The Python worker writes here alone.
            counted = self.counted / f"{row.name}.contexts"
            counted.write_bytes(b"")
            environment |= {"LD_PRELOAD": str(self.counter), "PRETENDED_CUDA_CONTEXTS": str(counted)}
        with Card() as card:
            ended = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
        row.memory = card.peak
        row.seconds = round(time.monotonic() - begin, 1)
        if "PRETENDED_CUDA_CONTEXTS" in environment:
            row.contexts = Path(environment["PRETENDED_CUDA_CONTEXTS"]).stat().st_size
        row.ended = ENDED.get(ended.returncode, f"exit code {ended.returncode}")
        folder.parent.joinpath(row.name + ".log").write_text(ended.stdout + ended.stderr)
        if ended.returncode:
            row.said = (ended.stderr.strip().splitlines() or [""])[-1][:300]
        if row.group == "speed":
            row.facts = speed_in(ended.stdout)
        elif (folder / "report.json").exists():
            row.facts = facts_of(json.loads((folder / "report.json").read_text()))
        return row

    def run_in_time(self, row: Row) -> Row:
        if time.monotonic() - self.began > self.given.budget:
            row.ended = "left out"
            return row
        return self.run(row)

    def run_all(self, rows: Sequence[Row], at_a_time: int) -> None:
        with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
            for ended in concurrent.futures.as_completed([pool.submit(self.run_in_time, row) for row in rows]):
                self.made.append(ended.result())
                print(line_of(self.made[-1]), flush=True)
                self.given.output.write_text(json.dumps([asdict(row) for row in self.made], indent=1))

    def reduction(self, group: str, name: str, case: dict[str, Any], *more: str) -> Row:
        row = Row(group, name, [str(self.given.program), str(CASES / case["case"] / "failing.pt")])
        row.command += ["--backend", case["backend"], "--device", "cuda", "--quiet", "--python", str(self.given.python)]
        row.command += [*(["--grad"] if case["grad"] else []), "-o", str(self.folder(row)), *more]
        return row


def counter_in(folder: Path) -> Path | None:
    """Compiles contexts.c into the folder; None where there is no compiler."""
    library = folder.absolute() / "contexts.so"
    compiled = subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "contexts.c", "-ldl"])
    return library if compiled.returncode == 0 else None


def facts_of(report: dict[str, Any]) -> dict[str, Any]:
    seconds, script = report["seconds"], report["repro_py"]
    return {
        "before": report["before"]["operators"],
        "after": report["after"]["operators"],
        "checks": report["checks"],
        "ms_a_check": round(1000 * seconds["checks"] / max(report["checks"], 1)),
        "search": round(seconds["search"], 1),
        "verified": report["verified"],
        "script_verified": script["verified"],
        "unverified": report["verification"] or script["verification"],
        "kind": report["verdict"]["kind"],
        "guilty": (report["bisect"] or {}).get("guilty"),
    }


def speed_in(printed: str) -> dict[str, Any]:
    """The times of `run --timing --json`, in milliseconds."""
    try:
        answer = json.loads(printed)
        timing, coverage = answer["timing"], answer["details"]["coverage"] or {}
    except (ValueError, KeyError, TypeError):
        return {}
    times = {side: round(1000 * timing[f"{side}_seconds"], 3) for side in ("eager", "optimised", "compile")}
    return {"speed": {**times, "kernels_of": coverage.get("compiled")}}


def line_of(row: Row) -> str:
    """One line of the table."""
    facts = row.facts
    if "speed" in facts:
        return f"{row.group:12} {row.name:32} {row.seconds:6.1f} s, milliseconds a call: {facts['speed']}"
    if "checks" not in facts:
        return (
            f"{row.group:12} {row.name:32} {row.ended:14} {row.seconds:6.1f} s  {row.contexts:3} contexts, "
            f"{row.memory} MiB, {row.said[:150]}"
        )
    verified = "/".join({True: "yes", False: "NO", None: "-"}[facts[key]] for key in ("verified", "script_verified"))
    counts = f"{facts['before']:4} to {facts['after']:2}, {facts['checks']:3} checks of {facts['ms_a_check']:5} ms"
    counts += f", search {facts['search']:5.1f} s, {row.contexts:3} contexts, {row.memory} MiB"
    return (
        f"{row.group:12} {row.name:32} {row.ended:14} {row.seconds:6.1f} s  {counts}, verified {verified}, "
        f"{facts['kind']}, {facts['guilty']} {facts['unverified'][:150]}"
    )


def rows_alone(rows: Rows, cases: Sequence[dict[str, Any]]) -> list[Row]:
    named = {case["case"]: case for case in cases}
    asked = [(name, "1") for name in ALONE] + [(ALONE[0], "4")]
    return [
        rows.reduction("alone", f"{name}-{jobs}", named[name], "--jobs", jobs, "--no-verify") for name, jobs in asked
    ]


def rows_of_speed(rows: Rows) -> list[Row]:
    made = []
    for model in ("wide", "looked_up"):
        file = rows.given.work / "models" / f"{model}.pt"
        inputs = ["--inputs", str(file.with_suffix(".inputs.pt"))]
        for backend in ("inductor-like", "inductor"):
            command = [str(rows.given.program), "run", str(file), *inputs, "--backend", backend, "--timing", "--json"]
            command += ["--device", "cuda", "--python", str(rows.given.python)]
            made.append(Row("speed", f"{model}-{backend}", command))
    return made


def hostile_rows(rows: Rows) -> list[Row]:
    """A candidate that loses the context; and memory that another process has, all the time, so that a context fits and
    the model does not or neither does, and for ten seconds."""
    models = rows.given.work / "models"
    case = {"case": "", "backend": "freeze", "grad": False}

    def row(name: str, *more: str, crowd: Sequence[str] = ()) -> Row:
        made = rows.reduction("hostile", name, case, "--no-autocast", *more)
        made.command[1] = str(models / "looked_up.pt")
        made.command += ["--inputs", str(models / "looked_up.inputs.pt")]
        if crowd:
            beside = [str(rows.given.python), str(HERE / "device_models.py"), "crowd", *crowd]
            made.command = [*beside, *made.command]
        return made

    made = [row("lost_context"), row("lost_context_tf32", "--tf32", "--no-verify")]
    if not rows.given.pretend:
        made += [row("no_memory_at_all", crowd=("100", "0", "0")), row("four_jobs_in_1600_MiB", "--jobs", "4",
                 crowd=("1600", "0", "0")), row("no_memory_for_a_while", crowd=("0", "8", "10"))]  # fmt: skip
    return made


def is_well(row: Row, is_pretended: bool) -> bool:
    """True if what was reduced was verified where it was asked, or there is nothing to reduce: the model does not fail,
    or eager itself raises, as a model of the CPU may do on a device."""
    right = row.ended in ("reduced", "does not fail", "left out") or "eager itself raises" in row.said
    right |= row.name == "no_memory_at_all" and "memory" in row.said
    if row.group == "speed":
        return "speed" in row.facts
    script = None if is_pretended else row.facts.get("script_verified")
    return right and False not in (row.facts.get("verified"), script)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--pretend", type=Path)
    parser.add_argument("--only", action="append", default=[], help="a group, or a part of a row's name")
    parser.add_argument("--limit", type=int, default=150, help="seconds that one row may take")
    parser.add_argument("--budget", type=int, default=480, help="seconds after which no row is begun")
    parser.add_argument("--fx-option", action="append", default=[], help="KEY=VALUE of minify() for functions")
    parser.add_argument("--at-a-time", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    given = parser.parse_args()
    rows, cases = Rows(given), json.loads((CASES / "expected.json").read_text())
    asked = functions(rows, given)
    of_autocast = {"float16": (), "bfloat16": ("--autocast-dtype", "bfloat16"), "float32": ("--no-autocast",)}
    for group, words in of_autocast.items():
        asked += [rows.reduction(group, case["case"], case, *words) for case in cases]
    subprocess.run([given.python, HERE / "device_models.py", "save", given.work / "models"], check=True)
    alone = [*rows_of_speed(rows), *rows_alone(rows, cases), *hostile_rows(rows)]
    wanted = lambda row: not given.only or any(word in f"{row.group}/{row.name}" for word in given.only)  # noqa: E731
    rows.run_all([row for row in alone if wanted(row)], 1)
    rows.run_all([row for row in asked if wanted(row)], given.at_a_time)
    bad = [row for row in rows.made if not is_well(row, given.pretend is not None)]
    print(f"{len(rows.made)} rows, {len(bad)} to look at")
    for row in bad:
        print("look at:", line_of(row))
    return 1 if bad else 0


def functions(rows: Rows, given: argparse.Namespace) -> list[Row]:
    """On the CPU where the device is pretended, which the Python that compiles does not see."""
    from programs import PROGRAMS

    device = "cpu" if given.pretend else "cuda"
    names = [*PROGRAMS, "pooled.pt2"]
    made = [Row("inductor", name, [str(given.python), str(HERE / "fx_row.py"), name, device]) for name in names]
    for row in made:
        row.command += [str(rows.folder(row)), *given.fx_option]
    return made


if __name__ == "__main__":
    sys.exit(main())
