"""Tries archives as strangers may make them, and looks for what a model must never do.

    fuzz.py --loader LOAD_ARCHIVES --fixtures FOLDER [--count N] [--seconds S] [--seed N] [--keep FOLDER]
            [--program REPRO_MINIFY [--each N]] [--every S] [--least N]

A finding is a signal that ends the main process, an internal error, a hang, memory over the limit, a file outside the
folder, a process left behind. Archive number N of a seed is the same each time. With --program those that can be loaded
are also reduced by the whole program (--each N: every Nth of them). Every so many seconds, and at
the end, also after Ctrl-C, a line has the counts; exit code 1 if there is a finding, or if so little was loaded or
reduced that nothing was shown (--least N), 130 if it was interrupted.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from archives import Archive, mutate
from troubled import left_after

LOAD_SECONDS, LOAD_MIB = 5, 1024
# Twice the limit of a child, and what the process itself takes.
MOST_MIB = 2 * LOAD_MIB + 1024
SEARCH_SECONDS = 2
# A run that has not ended by then hangs, on the busiest machine. load_archives.cpp has the same for what it loads.
HANGING_AFTER_SECONDS = 300
SECONDS_BETWEEN_LOOKS = 0.01
# Exit codes of docs/exit-codes.md, and what the count is called.
ENDS = {0: "reduced", 1: "passed", 2: "unusable", 3: "unreproducible", 4: "unverified"}
MARK = "REPRO_MINIFY_FUZZ_MARK"
CANARY = b"0123456789abcdef"


class Counts:
    """Counts what was tried and how it ended, and prints that every so many seconds."""

    def __init__(self, every: float) -> None:
        self.of = dict.fromkeys(("tried", "refused", "loaded", *ENDS.values(), "findings"), 0)
        self.every = every
        self.begin = self.said = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self.begin

    def say(self) -> None:
        self.said = time.monotonic()
        print(", ".join(f"{name} {count}" for name, count in self.of.items()) + f"; {self.seconds():.0f} s", flush=True)

    def say_now_and_then(self) -> None:
        if time.monotonic() - self.said > self.every:
            self.say()


class Place:
    """Folders of this run. What a model may change in them is known, so that anything else is a finding."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.model, self.results, self.log = root / "model", root / "results", root / "log"
        self.canary, self.cache = root / "canary", root / "cache"
        self.empty = [root / name for name in ("home", "cwd", "tmp")]
        for folder in (*self.empty, root / "tmp-of-loader"):
            folder.mkdir()
        self.write_canary()

    def write_canary(self) -> None:
        self.canary.write_bytes(CANARY)

    def environment(self) -> dict[str, str]:
        home, _, tmp = self.empty
        own = {"TMPDIR": str(tmp), "HOME": str(home), "XDG_CACHE_HOME": str(self.cache)}
        return {**os.environ, **own, "REPRO_MINIFY_PRECOMPILED_HEADERS": "off"}

    def clear(self) -> None:
        for folder in (self.model, self.results):
            shutil.rmtree(folder, ignore_errors=True)

    def problem(self) -> str:
        """Returns what was written where nothing is to be, or an empty string."""
        if self.canary.read_bytes() != CANARY:
            self.write_canary()
            return "a file outside the folder was written"
        new = [str(entry.relative_to(self.root)) for folder in self.empty for entry in folder.iterdir()]
        return f"left behind: {new[:5]}" if new else ""


def seeds(fixtures: Path) -> list[Path]:
    """Small models with their inputs beside them."""
    models = sorted(fixtures.glob("**/failing.pt")) + sorted(fixtures.glob("**/model.pt"))
    return [model for model in models if model.stat().st_size < 200_000]


def options_of_cases(fixtures: Path) -> dict[str, list[str]]:
    """Those under which each case fails. TorchInductor's worker would cost seconds for each."""
    cases = json.loads((fixtures / "cases" / "expected.json").read_text())
    return {
        case["case"]: ["--backend", case["backend"], *(["--grad"] if case["grad"] else [])]
        for case in cases
        if case["backend"] != "inductor"
    }


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


class Loader:
    """The process that loads archives, in a child each; started again where an archive ends it."""

    def __init__(self, program: str, place: Place) -> None:
        self.words = [program, str(LOAD_SECONDS), str(LOAD_MIB)]
        self.environment = {**place.environment(), "TMPDIR": str(place.root / "tmp-of-loader")}
        self.folder = place.root / "cwd"
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment,
            cwd=self.folder,
            text=True,
        )

    def ask(self, model: Path) -> tuple[bool, str]:
        """Returns True if it is loaded, and what is wrong with how that ended, or an empty string."""
        assert self.process.stdin and self.process.stdout
        print(model, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            self.close()
            self.process = self.start()
            return False, "the loader itself is gone"
        ended = json.loads(answer)
        return ended["exit"] == 0, self.problem(ended)

    @staticmethod
    def problem(ended: dict[str, Any]) -> str:
        if ended["signal"]:
            return f"signal {ended['signal']}"
        if ended["exit"] not in (0, 2):
            return f"exit code {ended['exit']}"
        if ended["peak_mib"] > MOST_MIB:
            return f"{ended['peak_mib']} MiB"
        return "a process left behind" if ended["left_behind"] else ""

    def close(self) -> None:
        with self.process:  # closes its standard input, which ends it, and waits
            pass


def wait_for(process: subprocess.Popen[bytes]) -> int:
    """The most memory that it or what it started took, in MiB. It is killed where it hangs."""
    looks = 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_maxrss >> 10
        looks += 1
        if looks * SECONDS_BETWEEN_LOOKS > HANGING_AFTER_SECONDS:
            os.kill(process.pid, signal.SIGKILL)
        time.sleep(SECONDS_BETWEEN_LOOKS)


def reduce(program: str, options: list[str], place: Place, mark: str) -> tuple[str, str]:
    """The whole program does: how that ended, and what is wrong with that."""
    words = [program, str(place.model / "failing.pt"), *options, "-o", str(place.results), "--no-bisect", "--no-verify"]
    words += ["--quiet", "--jobs", "1", "--time-budget", str(SEARCH_SECONDS)]
    words += ["--timeout", str(LOAD_SECONDS), "--memory-limit", f"{LOAD_MIB}MiB"]
    environment = {**place.environment(), MARK: mark}
    with place.log.open("wb") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said, env=environment, cwd=place.root / "cwd")
        try:
            peak_mib = wait_for(process)
        except BaseException:
            process.kill()
            process.wait()
            raise
    return ENDS.get(process.returncode, ""), problem_of_reduction(process.returncode, peak_mib, place, mark)


def problem_of_reduction(code: int, peak_mib: int, place: Place, mark: str) -> str:
    said = place.log.read_text(errors="replace")
    if code not in ENDS or "internal error" in said:
        return f"exit code {code}: {said[-300:]}"
    if code == 0:
        json.loads((place.results / "report.json").read_text())
    elif not said.strip():
        return f"exit code {code}, and nothing is said"
    if peak_mib > MOST_MIB:
        return f"{peak_mib} MiB"
    left = left_after(f"{MARK}={mark}", 60)
    return f"left behind: {left}" if left else ""


class Fuzzer:
    def __init__(self, options: argparse.Namespace, place: Place, loader: Loader, counts: Counts) -> None:
        self.options, self.place, self.loader, self.counts = options, place, loader, counts
        self.models = seeds(options.fixtures)
        self.options_of = options_of_cases(options.fixtures)

    def try_all(self) -> None:
        for number in range(self.options.first, self.options.first + self.options.count):
            if self.counts.seconds() > self.options.seconds:
                break
            rng = random.Random(f"{self.options.seed}/{number}")
            model = rng.choice(self.models)
            what = make(self.place.model, model, rng, self.place.canary)
            problem = self.try_one(number, model)
            self.counts.of["tried"] += 1
            if problem:
                self.counts.of["findings"] += 1
                kept = self.options.keep / f"{self.options.seed}-{number}"
                shutil.copytree(self.place.model, kept, dirs_exist_ok=True)
                print(f"{number}: {model.parent.name}, {what}: {problem} ({kept})", flush=True)
            self.place.clear()
            self.counts.say_now_and_then()

    def try_one(self, number: int, model: Path) -> str:
        loaded, problem = self.loader.ask(self.place.model / "failing.pt")
        self.counts.of["loaded" if loaded else "refused"] += 1
        is_reduced = loaded and self.counts.of["loaded"] % self.options.each == 0
        if is_reduced and not problem and self.options.program:
            under = self.options_of.get(model.parent.name, ["--backend", "jit"])
            end, problem = reduce(self.options.program, under, self.place, f"{os.getpid()}-{number}")
            if end:
                self.counts.of[end] += 1
        return problem or self.place.problem()


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--loader", type=os.path.abspath, required=True)
    parser.add_argument("--program", type=os.path.abspath)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--fixtures", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("findings"))
    parser.add_argument("--every", type=float, default=30)
    parser.add_argument("--least", type=int, default=0)
    return parser.parse_args()


def main() -> int:
    options = parsed()
    warnings.simplefilter("ignore")  # of zipfile: two records of one name are what is wanted
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    counts, interrupted = Counts(options.every), False
    with tempfile.TemporaryDirectory() as scratch:
        place = Place(Path(scratch))
        loader = Loader(options.loader, place)
        try:
            Fuzzer(options, place, loader, counts).try_all()
        except KeyboardInterrupt:
            interrupted = True
        loader.close()
        left = [entry.name for entry in (place.root / "tmp-of-loader").iterdir()]
        if left and not interrupted:
            counts.of["findings"] += 1
            print(f"left in the temporary folder: {left[:5]}")
    counts.say()
    if interrupted:
        return 130
    asked = ["loaded", *(["reduced"] if options.program else [])]
    too_few = [name for name in asked if counts.of[name] < options.least]
    if too_few:
        print(f"fewer than {options.least}: {', '.join(too_few)}")
    return 1 if counts.of["findings"] or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
