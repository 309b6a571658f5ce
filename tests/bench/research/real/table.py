#!/usr/bin/env python3
"""Real models x backends: what `repro-minify run` says of each, what PyTorch itself says, and what a failure comes down
to.

    table.py --binary build/release/repro-minify --models FOLDER --python PYTHON --work FOLDER [--reduce] [...]

FOLDER is what make.py wrote; PYTHON has torch (and, for `inductor`, what make.py needs). Every answer is appended to
WORK/answers.jsonl as soon as it is there: a run that was killed goes on where it was. WORK/table.json and WORK/table.md
are made of that file; --print makes them again and runs nothing.
"""

import argparse
import fnmatch
import json
import os
import sys
import time
from pathlib import Path

import page
from measured import run

HERE = Path(__file__).resolve().parent
BACKENDS = [
    "eager",
    "jit",
    "freeze",
    "optimize-for-inference",
    "nnc",
    "static-runtime",
    "autocast",
    "inductor-like",
    "inductor",
]
EXIT_CODES = {0: "pass", 1: "fail", 2: "refused", 3: "eager"}


def last_sentence(text):
    lines = [line for line in text.splitlines() if line.startswith("error: ")] or text.splitlines()
    return lines[-1].removeprefix("error: ")[:300] if lines else ""


def checked(arguments, model, backend):
    """`repro-minify run`: one check, as a user asks for it."""
    command = [
        arguments.binary,
        "run",
        model / "model.pt",
        "--backend",
        backend,
        "--json",
        "--python",
        arguments.python,
    ]
    done = run(command, arguments.timeout)
    answer = {"verdict": "no answer" if done.timed_out else EXIT_CODES.get(done.code, f"exit code {done.code}")}
    answer |= {"seconds": done.seconds, "peak_mb": done.peak_mb, "why": ""}
    try:
        verdict = json.loads(done.output)["verdict"]
        answer["outcome"] = verdict["outcome"]
        answer["kind"] = verdict.get("kind") or ""
        answer["why"] = verdict.get("message", "")[:300]
    except (ValueError, KeyError, TypeError):
        answer["why"] = f"nothing after {arguments.timeout} s" if done.timed_out else last_sentence(done.error)
    if "cannot take this program" in answer["why"]:
        answer["verdict"] = "not supported"
    return answer


def pytorch(arguments, model, backend):
    done = run([arguments.python, HERE / "torch_verdict.py", model, backend], arguments.timeout)
    try:
        return json.loads(done.output.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {"verdict": "hangs" if done.timed_out else "crashes", "why": f"exit code {done.code}"}


def reduced(arguments, model, backend):
    """The whole tool on a failure: what it comes down to, and whether the repro was seen to fail."""
    folder = arguments.work / "repros" / f"{model.name}.{backend}"
    folder.mkdir(parents=True, exist_ok=True)
    command = [arguments.binary, model / "model.pt", "--backend", backend, "-o", folder, "--python", arguments.python]
    command += ["--time-budget", str(arguments.reduce_seconds)]
    done = run(command, arguments.reduce_seconds * 2 + arguments.timeout)
    answer = {"code": done.code, "seconds": done.seconds, "peak_mb": done.peak_mb, "why": ""}
    try:
        report = json.loads((folder / "report.json").read_text())
        answer |= {"operators": report["after"]["operators"], "before": report["before"]["operators"]}
        answer |= {
            "verified": report.get("verified"),
            "minimal": report.get("one_minimal"),
            "checks": report.get("checks"),
        }
    except (OSError, ValueError, KeyError):
        answer["why"] = last_sentence(done.error)
    return answer


STEPS = {"run": checked, "pytorch": pytorch, "reduce": reduced}


class Answers:
    """Keyed by (model, backend, step); what is read again is what was answered last."""

    def __init__(self, path):
        self.path = path
        self.known = {}
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    row = json.loads(line)
                except ValueError:
                    continue  # the one that a kill cut short
                self.known[row["model"], row["backend"], row["step"]] = row

    def ask(self, arguments, model, backend, step):
        key = (model.name, backend, step)
        if key not in self.known:
            begin = time.time()
            row = {"model": model.name, "backend": backend, "step": step, **STEPS[step](arguments, model, backend)}
            row["archive_mb"] = os.path.getsize(model / "model.pt") / 1e6
            with self.path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            self.known[key] = row
            said = row.get("verdict") or f"{row.get('operators', '?')} operators"
            print(
                f"{model.name} {backend} {step}: {said} {row.get('why', '')[:120]} ({time.time() - begin:.1f} s)",
                flush=True,
            )
        return self.known[key]


def work_through(arguments, models, answers):
    for backend in arguments.backends:
        for model in models:
            answer = answers.ask(arguments, model, backend, "run")
            if arguments.pytorch == "all" or (arguments.pytorch == "failures" and answer["verdict"] != "pass"):
                answers.ask(arguments, model, backend, "pytorch")
            if arguments.reduce and answer["verdict"] == "fail":
                answers.ask(arguments, model, backend, "reduce")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--backends", default=",".join(BACKENDS), type=lambda text: text.split(","))
    parser.add_argument("--only", default=["*"], nargs="*", metavar="PATTERN", help="of models")
    parser.add_argument("--most-mb", type=float, default=1e9, help="leave out larger archives")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run (default 300)")
    parser.add_argument(
        "--pytorch", choices=["all", "failures", "none"], default="all", help="whom PyTorch is asked about"
    )
    parser.add_argument("--reduce", action="store_true", help="reduce what fails")
    parser.add_argument("--reduce-seconds", type=int, default=300, help="--time-budget of a reduction (default 300)")
    parser.add_argument("--print", action="store_true", help="only write the tables of what is known")
    arguments = parser.parse_args()
    if not arguments.print and not (arguments.binary and arguments.models):
        parser.error("--binary and --models are missing")
    return arguments


def main():
    arguments = options()
    arguments.work.mkdir(parents=True, exist_ok=True)
    answers = Answers(arguments.work / "answers.jsonl")
    if not arguments.print:
        models = [path.parent for path in sorted(arguments.models.glob("*/inputs.pt"))]
        models = [m for m in models if any(fnmatch.fnmatch(m.name, pattern) for pattern in arguments.only)]
        models = [m for m in models if os.path.getsize(m / "model.pt") <= arguments.most_mb * 1e6]
        work_through(arguments, models, answers)
    rows = list(answers.known.values())
    (arguments.work / "table.json").write_text(json.dumps(rows, indent=1) + "\n")
    text = page.markdown(rows, [backend for backend in BACKENDS if backend in arguments.backends])
    (arguments.work / "table.md").write_text(text)
    print(text)
    return 1 if page.refusals(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
