"""How well one bug is known as one: reduces a corpus (corpus.py), and prints pairwise precision and recall.

    build/python-venv/bin/python tests/triage/measure.py CORPUS --program build/release/repro-minify [--jobs 2]

What is there from an earlier run is not reduced again. Beside the key of triage: what others would call one bug.
"""

import argparse
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from repro_minify_triage.identity import key_of, without_numbers
from repro_minify_triage.jobs import Job, reduce_job
from repro_minify_triage.local_pool import LocalPool
from repro_minify_triage.variants import parse_variant

OPTIONS = ("--no-verify", "--jobs", "1")


def jobs_left(corpus: Path, rows: list[dict[str, Any]], skip: set[str]) -> Iterator[Job]:
    for index, row in enumerate(rows):
        variant = parse_variant(row["variant"])
        if variant.backend not in skip and not (corpus / row["model"]).with_suffix(".result.json").exists():
            yield reduce_job(str(index), str(corpus / row["model"]), variant, 900, OPTIONS)


def reduce_all(corpus: Path, rows: list[dict[str, Any]], program: Path, jobs: int, skip: set[str]) -> None:
    pool = LocalPool(str(program.resolve()), corpus / "work", jobs)
    for job, result in pool.run(jobs_left(corpus, rows, skip)):
        row = {"exit_code": result.exit_code, "lost": result.lost, "message": result.message, "seconds": result.seconds,
               "report": result.output}  # fmt: skip
        (corpus / rows[int(job.name)]["model"]).with_suffix(".result.json").write_text(json.dumps(row))


def results(corpus: Path, rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The rows that were reduced, with their reports; and why others were not."""
    found, why_not = [], Counter[str]()
    for row in rows:
        file = (corpus / row["model"]).with_suffix(".result.json")
        result = json.loads(file.read_text()) if file.exists() else None
        if result and result["report"] and result["exit_code"] in (0, 4):
            found.append(row | {"report": result["report"], "seconds": result["seconds"]})
        else:
            why_not["not tried" if not result else result["lost"] or f"exit code {result['exit_code']}"] += 1
    return found, why_not


def signature(row: dict[str, Any]) -> Any:
    verdict = row["report"]["verdict"]
    return row["variant"], verdict["kind"], verdict["where"], without_numbers(verdict["detail"])


def guilty_step(row: dict[str, Any]) -> Any:
    return row["variant"], (row["report"]["bisect"] or {}).get("guilty") or ""


def crash_frames(row: dict[str, Any]) -> Any:
    """Tells what crashes or raises apart by message and frames, as ClusterFuzz; it has nothing to tell the rest by."""
    verdict = row["report"]["verdict"]
    return verdict["kind"], without_numbers(verdict["detail"])


def operator_set(row: dict[str, Any]) -> Any:
    return row["variant"], tuple((row["report"]["program"] or {}).get("operators", ()))


def identity(row: dict[str, Any]) -> Any:
    return key_of(row["report"], row["variant"], row["model"]).text


METHODS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "triage's key": identity,
    "signature alone": signature,
    "guilty step alone": guilty_step,
    "message and frames": crash_frames,
    "set of operators": operator_set,
}


def precision_and_recall(rows: list[dict[str, Any]], called: Callable[[dict[str, Any]], Any]) -> tuple[float, float]:
    """Over pairs. One bug is one fault under one backend."""
    both = said = true = 0
    names = [(called(row), (row["fault"], row["variant"])) for row in rows]
    for (one, truth), (other, other_truth) in itertools.combinations(names, 2):
        said += one == other
        true += truth == other_truth
        both += one == other and truth == other_truth
    return both / said if said else 1.0, both / true if true else 1.0


def print_table(rows: list[dict[str, Any]]) -> None:
    print("| one bug is what agrees in | precision | recall | bugs |\n|---|---|---|---|")
    for name, called in METHODS.items():
        precision, recall = precision_and_recall(rows, called)
        print(f"| {name} | {precision:.4f} | {recall:.4f} | {len({called(row) for row in rows})} |")


def print_mistakes(rows: list[dict[str, Any]]) -> None:
    by_fault: dict[Any, Counter[str]] = {}
    by_key: dict[str, set[Any]] = {}
    keys_of: dict[Any, set[str]] = {}
    for row in rows:
        key = key_of(row["report"], row["variant"], row["model"])
        text = f"{key.kind} | {key.guilty} | {key.detail[:60]} | {key.essence} | {key.canonical}"
        by_fault.setdefault((row["fault"], row["variant"]), Counter())[text] += 1
        keys_of.setdefault((row["fault"], row["variant"]), set()).add(key.text)
        by_key.setdefault(key.text, set()).add(row["fault"])
    for fault, texts in by_fault.items():
        if len(keys_of[fault]) > 1:
            print(f"\n{fault}: {len(keys_of[fault])} keys")
            for text, count in texts.most_common():
                print(f"  {count} x {text}")
    for key_text, faults in by_key.items():
        if len(faults) > 1:
            print(f"\n{key_text}: {sorted(faults)} are taken for one")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--program", type=Path, help="repro-minify; without it nothing is reduced")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--skip", nargs="*", default=[], help="backends to leave out")
    parser.add_argument("--mistakes", action="store_true", help="say which models were told apart or confused")
    given = parser.parse_args()
    rows = json.loads((given.corpus / "corpus.json").read_text())
    if given.program:
        reduce_all(given.corpus, rows, given.program, given.jobs, set(given.skip))
    found, why_not = results(given.corpus, rows)
    seconds = sum(row["seconds"] for row in found)
    print(f"{len(found)} of {len(rows)} models reduced in {seconds:.0f} s of jobs; not: {dict(why_not)}\n")
    print_table(found)
    if given.mistakes:
        print_mistakes(found)


if __name__ == "__main__":
    main()
