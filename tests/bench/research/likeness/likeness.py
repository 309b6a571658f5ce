#!/usr/bin/env python3
"""Does one backend fail where another does? Asks both about 300 generated programs.

    likeness.py                                 inductor against inductor-like, under autocast in bfloat16
    likeness.py --float32                       in float32, where inductor-like must agree with eager on all
    likeness.py --backends torch-compile,inductor
    likeness.py --only 'p01*' --jobs 4          some of the models, four at a time
    likeness.py --fresh inductor-like           asks that backend again, whatever is known
    likeness.py --self-test                     same seed, same programs, and they give the same twice

`torch-compile` is not a backend of repro-minify: it is the real one asked through Python alone, by PyTorch's own rule.
Verdicts are kept in out/likeness/verdicts.jsonl and not asked for again. See docs/likeness.md.

Exit code 1 if fewer than 95% of the verdicts agree, or, with --float32, if anything fails.
"""

import argparse
import fnmatch
import itertools
import json
import multiprocessing
import multiprocessing.connection
import os
import re
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

PARTS = Path(__file__).resolve().parent
ROOT = PARTS.parents[3]
EXPLANATIONS = PARTS / "explanations.toml"
IN_PYTHON = "torch-compile"
ENOUGH = 0.95
VERDICT_CODES = (0, 1, 3)  # docs/exit-codes.md: agrees, fails, eager is not reproducible

sys.path.insert(0, str(PARTS))


class Book:
    """The verdicts so far: a line of JSON each, the last of a key counts."""

    def __init__(self, path):
        self.path = path
        self.known = {}
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    row = json.loads(line)
                except json.JSONDecodeError:
                    continue  # the last line of a run that was killed
                self.known[self.key(row)] = row

    @staticmethod
    def key(row):
        return row["model"], row["precision"], row["backend"], row["fingerprint"]

    def add(self, row):
        self.known[self.key(row)] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")


def folder_of(output, model, precision):
    folder = output / "models" / model.name
    return folder / "float32" if precision == "float32" else folder


def save(model, precision, folder):
    """Writes model.pt, inputs.pt and the Python source, unless they are there already."""
    import torch

    import tracing

    stamp = folder / "fingerprint"
    if stamp.exists() and stamp.read_text() == model.fingerprint:
        return
    folder.mkdir(parents=True, exist_ok=True)
    module, inputs = model.build(precision)
    tracing.traced(module, inputs).save(str(folder / "model.pt"))
    # Tracing runs the program, which may write to its inputs: saved are those of a second build.
    torch.save(model.build(precision)[1], folder / "inputs.pt")
    (folder / "model.py").write_text(model.source)
    stamp.write_text(model.fingerprint)


def asked_of_tool(folder, precision, backend, arguments):
    command = [str(arguments.binary), "run", str(folder / "model.pt"), "--inputs", str(folder / "inputs.pt")]
    command += ["--backend", backend, "--json", "--timeout", str(arguments.timeout)]
    command += ["--autocast"] if precision == "bfloat16" else []
    limit = 3 * arguments.timeout  # calls, and the eager runs; the tool ends by itself long before
    process = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit)
    if process.returncode in (0, 1):
        answer = json.loads(process.stdout)
        verdict = {name: answer["verdict"].get(name, "") for name in ("outcome", "kind", "message", "where")}
        verdict["coverage"] = answer["details"].get("coverage")
    else:
        message = next(reversed(process.stderr.strip().splitlines()), "")
        verdict = {"outcome": "error", "kind": f"exit code {process.returncode}", "message": message}
    return verdict | {"exit_code": process.returncode}


def answer(pipe, model, precision, backend, arguments):
    """In a process of its own: the verdict goes through the pipe."""
    folder = folder_of(arguments.output, model, precision)
    try:
        save(model, precision, folder)
        if backend == IN_PYTHON:
            import compiled

            verdict = compiled.verdict(model, precision)
        else:
            verdict = asked_of_tool(folder, precision, backend, arguments)
    except Exception as error:
        verdict = {"outcome": "error", "kind": type(error).__name__, "message": str(error).partition("\n")[0]}
    pipe.send(verdict)


class Question:
    """One model put to one backend, under way."""

    def __init__(self, model, precision, backend, arguments):
        self.model, self.precision, self.backend = model, precision, backend
        self.pipe, other = multiprocessing.Pipe(duplex=False)
        fork = multiprocessing.get_context("fork")
        self.process = fork.Process(target=answer, args=(other, model, precision, backend, arguments))
        self.begin = time.monotonic()
        self.limit = self.begin + 4 * arguments.timeout
        self.process.start()
        other.close()

    def overdue(self):
        return time.monotonic() > self.limit

    def verdict(self):
        """Returns the verdict that was answered; if none was, one that says how the process ended."""
        verdict = {"outcome": "error", "kind": "timeout", "message": "no answer in time"}
        if self.pipe.poll():
            try:
                verdict = self.pipe.recv()
            except EOFError:
                self.process.join()
                verdict = {"outcome": "fail", "kind": "crash", "message": f"exit status {self.process.exitcode}"}
        else:
            self.process.kill()
        self.process.join()
        return {
            "model": self.model.name,
            "fingerprint": self.model.fingerprint,
            "precision": self.precision,
            "backend": self.backend,
            **verdict,
            "seconds": round(time.monotonic() - self.begin, 2),
        }


def ask_all(questions, book, arguments):
    """Puts all questions, some at a time, and books the answers that will stay true."""
    import torch

    torch.set_num_threads(1)  # children are forked: there must be no pool of threads to lose
    if any(backend == IN_PYTHON for _, _, backend in questions):
        import compiled  # noqa: F401  (once, before forking)
    waiting, running, done = list(reversed(questions)), [], 0
    answers = {}
    while waiting or running:
        while waiting and len(running) < arguments.jobs:
            running.append(Question(*waiting.pop(), arguments))
        ready = multiprocessing.connection.wait([question.pipe for question in running], timeout=1)
        for question in [one for one in running if one.pipe in ready or one.overdue()]:
            running.remove(question)
            row = question.verdict()
            done += 1
            answers[Book.key(row)] = row
            if row["outcome"] != "error" or row.get("exit_code") in VERDICT_CODES:
                book.add(row)
            what = row["outcome"] + (f" ({row['kind']})" if row["kind"] else "")
            what += f": {row['message']}" if row["outcome"] == "error" else ""
            print(f"{done}/{len(questions)} {row['model']} {row['backend']}: {what}", file=sys.stderr)
    return answers


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def described(row):
    if row["outcome"] == "pass":
        return "pass"
    return (
        f"{row['outcome']}, {row['kind']}: {row['message']}" if row["message"] else f"{row['outcome']}, {row['kind']}"
    )


def print_table(columns, rows):
    print("| " + " | ".join(columns) + " |", "|" + "---|" * len(columns), sep="\n")
    for row in rows:
        print("| " + " | ".join(cell(value) for value in row) + " |")


def is_compiled(row):
    """True if the backend has compiled anything of the program; one that does not say compiles everything. A program
    that runs as eager does agrees with it for no reason."""
    coverage = row.get("coverage")
    return coverage is None or coverage["compiled"] > 0


def print_coverage(verdicts, backend):
    """How much of the programs the backend has compiled, and what it has left to ATen."""
    coverages = {name: rows[backend]["coverage"] for name, rows in verdicts.items() if rows[backend].get("coverage")}
    if not coverages:
        return
    left, whole = Counter(), Counter()
    for coverage in coverages.values():
        left.update(coverage["not_compiled"])
        if coverage["compiled"] == 0:
            whole[coverage["because"] or "no operator that kernels are made of"] += 1
    compiled = sum(coverage["compiled"] for coverage in coverages.values())
    print(
        f"\n{backend} has compiled {compiled} operators of {len(coverages)} models; {left.total()} were left to ATen:"
    )
    print(", ".join(f"{name} {count}" for name, count in left.most_common()) or "none")
    print(f"nothing at all was compiled of {whole.total()} models" + (", which are not counted:" if whole else ""))
    for reason, count in whole.most_common():
        names = ", ".join(name for name, coverage in sorted(coverages.items())
                          if coverage["compiled"] == 0
                          and (coverage["because"] or "no operator that kernels are made of") == reason)  # fmt: skip
        print(f"- {reason} ({count}): {names}")


def compiled_by_all(verdicts):
    return {name: rows for name, rows in verdicts.items() if all(map(is_compiled, rows.values()))}


def agree(rows):
    outcomes = {row["outcome"] for row in rows}
    return len(outcomes) == 1 and "error" not in outcomes


def family(name):
    return name.partition("_")[2]


def print_families(verdicts, backends):
    """How many of each kind of model fail under each backend: agreement on what always passes would prove little."""
    columns = ["family", "models", *(f"fail under {backend}" for backend in backends)]
    families = {}
    for name, rows in verdicts.items():
        families.setdefault(family(name), []).append(rows)
    lines = []
    for name, members in sorted(families.items()):
        fails = [sum(rows[backend]["outcome"] != "pass" for rows in members) for backend in backends]
        lines.append([name, len(members), *fails])
    lines.append(["all", *(sum(line[column] for line in lines) for column in range(1, len(columns)))])
    print_table(columns, lines)


def print_kinds(verdicts, backends):
    counts = {backend: Counter() for backend in backends}
    for rows in verdicts.values():
        for backend in backends:
            if rows[backend]["outcome"] != "pass":
                counts[backend][rows[backend]["kind"]] += 1
    for backend in backends:
        kinds = ", ".join(f"{kind} {count}" for kind, count in counts[backend].most_common())
        print(f"- {backend} fails by kind: {kinds or 'nothing fails'}")


def print_agreement(verdicts, backends, explanations):
    """The share of models on which the two backends agree; a row for each on which they do not."""
    first, second = backends
    verdicts = compiled_by_all(verdicts)
    if not verdicts:
        print("\nnot one model was compiled by both")
        return False
    parted = {name: rows for name, rows in verdicts.items() if not agree(rows.values())}
    share = 1 - len(parted) / len(verdicts)
    failing = {name for name, rows in verdicts.items() if rows[first]["outcome"] == "fail"}
    both = [rows for name, rows in verdicts.items() if name in failing and name not in parted]
    same_kind = sum(rows[first]["kind"] == rows[second]["kind"] for rows in both)
    print(
        f"\n{first} and {second} agree on {len(verdicts) - len(parted)} of {len(verdicts)} compiled models "
        f"({share:.1%}); "
        f"of the {len(failing)} that fail under {first}, {len(both)} fail under {second}, {same_kind} in the same way\n"
    )
    if parted:
        columns = ("model", first, second, "explanation")
        rows = [
            (name, described(rows[first]), described(rows[second]), explanations.get(name, "unexplained"))
            for name, rows in sorted(parted.items())
        ]
        print_table(columns, rows)
    return share >= ENOUGH


def print_failures(verdicts, backends, explanations):
    """Every model on which a backend and eager do not agree."""
    rows = [
        (name, backend, described(by_backend[backend]), explanations.get(name, "unexplained"))
        for name, by_backend in sorted(verdicts.items())
        for backend in backends
        if by_backend[backend]["outcome"] != "pass"
    ]
    for backend in backends:
        compiled = [by_backend[backend] for by_backend in verdicts.values() if is_compiled(by_backend[backend])]
        passes = sum(row["outcome"] == "pass" for row in compiled)
        print(f"\n{backend} agrees with eager on {passes} of {len(compiled)} compiled models")
    if rows:
        print()
        print_table(("model", "backend", "verdict", "explanation"), rows)
    return not rows


def graph_of(model):
    import tracing

    graph = tracing.traced(*model.build("bfloat16")).inlined_graph
    return re.sub(r"___torch_mangle_\d+\.", "", str(graph))  # a number that classes of the same name get


def self_test():
    """Five programs twice: the same source, the same graph, and in eager the same result."""
    import torch

    import compiled
    import programs

    first, second = (list(itertools.islice(programs.generate(), 5)) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        if one != other or graph_of(one) != graph_of(other):
            sys.exit(f"{one.name}: the same seed gives another program")
        for precision in ("bfloat16", "float32", "float64"):
            results = [compiled.as_tuple(compiled.run(*model.build(precision), precision)) for model in (one, other)]
            for expected, found in zip(*results, strict=True):
                if not torch.equal(torch.nan_to_num(expected), torch.nan_to_num(found)):
                    sys.exit(f"{one.name}: eager gives another result the second time, in {precision}")
    print("5 programs: the same twice, in source, graph and result")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backends", help="A,B (default: inductor,inductor-like; with --float32: inductor-like)")
    parser.add_argument("--float32", action="store_true", help="no autocast: list what does not agree with eager")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="models whose name matches")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="questions at a time")
    parser.add_argument("--fresh", default="", metavar="A,B", help="ask these backends again")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that one check may take")
    parser.add_argument("--output", default=ROOT / "out" / "likeness", type=Path, help="models and verdicts")
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "repro-minify", type=Path)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    default = "inductor-like" if arguments.float32 else "inductor,inductor-like"
    arguments.backends = (arguments.backends or default).split(",")
    if not arguments.float32 and len(arguments.backends) != 2:
        parser.error("--backends takes two, which are compared with each other")
    arguments.output = arguments.output.resolve()
    return arguments


def main():
    arguments = parsed()
    # Compiled kernels are kept with the verdicts; one compiler for each question.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(arguments.output / "inductor"))
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    try:
        import programs
    except ImportError as error:
        sys.exit(f"likeness.py needs a Python with torch: {error}")
    if arguments.self_test:
        return self_test()

    precision = "float32" if arguments.float32 else "bfloat16"
    models = programs.generate()
    models = [model for model in models if fnmatch.fnmatch(model.name, arguments.only)]
    if not models:
        sys.exit(f"no model is called {arguments.only}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    book = Book(arguments.output / "verdicts.jsonl")
    fresh = arguments.fresh.split(",")

    def key(model, backend):
        return model.name, precision, backend, model.fingerprint

    unknown = [
        (model, precision, backend)
        for model in models
        for backend in arguments.backends
        if backend in fresh or key(model, backend) not in book.known
    ]
    answers = book.known | ask_all(unknown, book, arguments)
    verdicts = {model.name: {b: answers[key(model, b)] for b in arguments.backends} for model in models}

    explanations = tomllib.loads(EXPLANATIONS.read_text()).get(precision, {})
    print_families(verdicts, arguments.backends)
    print()
    print_kinds(verdicts, arguments.backends)
    for backend in arguments.backends:
        print_coverage(verdicts, backend)
    if arguments.float32:
        return 0 if print_failures(verdicts, arguments.backends, explanations) else 1
    return 0 if print_agreement(verdicts, arguments.backends, explanations) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)  # what was answered is in the book
