"""A night: known bugs first, then every model under every backend, then reductions within the budget, then states."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .answers import answers_of_check, no_answer
from .identity import key_of
from .jobs import Job, Result, check_job, reduce_job
from .marks import bug_for
from .models import Model
from .pools import Pool
from .states import CLEAN_RUNS, Answers, Evidence, State, evidence_of, next_state
from .store import Row, Store
from .variants import Variant, parse_variant

REDUCED = (0, 4)  # exit codes of a reduction that has a result; 4: the repro did not verify, which its report says


@dataclass(frozen=True)
class Plan:
    variants: tuple[Variant, ...]
    runs: int = 3  # of what fails: a failure in every one of them is no flake
    budget: float = 6 * 3600.0  # seconds for reductions
    check_timeout: float = 600.0
    reduce_timeout: float = 1800.0
    reduce_options: tuple[str, ...] = ("--no-verify",)
    python: str = ""


class Night:
    def __init__(self, store: Store, pool: Pool, plan: Plan, models: list[Model], number: int,
                 say: Callable[[str], None]) -> None:  # fmt: skip
        self.store, self.pool, self.plan, self.number, self.say = store, pool, plan, number, say
        self.models = {model.digest: model for model in models}
        self.ids = {model.digest: store.model_id(model.digest) for model in models}

    def run(self) -> None:
        self.recheck_bugs()
        self.check_models()
        self.reduce_failures()
        self.store.end_night(self.number, self.states())

    # Known bugs

    def recheck_bugs(self) -> None:
        # A night that was killed and goes on has found bugs of its own: what it saw of them is what it would have seen.
        bugs = [bug for bug in self.store.bugs() if bug["first_night"] < self.number]
        self.say(f"known bugs: {len(bugs)}")
        for attempt in range(1, CLEAN_RUNS + 1):
            jobs = {job.name: (job, bug) for bug, job in self.recheck_jobs(bugs, attempt)}
            for job, result in self.pool.run(job for job, _ in jobs.values()):
                bug = jobs[job.name][1]
                answer = answers_of_check(job, result)[job.backends[0]]
                self.store.observe(self.number, f"bug {bug['id']}", bug["variant"], attempt, answer)

    def recheck_jobs(self, bugs: list[Row], attempt: int) -> Iterator[tuple[Row, Job]]:
        for bug in bugs:
            seen = self.store.observations(self.number, f"bug {bug['id']}", bug["variant"])
            # One failure says that it is there. One that passes has to do so every time.
            if len(seen) >= attempt or any(row["outcome"] != "pass" for row in seen):
                continue
            reduced = self.store.artefact_folder(bug["artefact"]) / "reduced.pt"
            if not reduced.is_file():
                answer = no_answer(f"{reduced} is gone")
                self.store.observe(self.number, f"bug {bug['id']}", bug["variant"], attempt, answer)
                continue
            name = f"{self.number}-bug-{bug['id']}-{attempt}"
            variant = parse_variant(bug["variant"])
            yield bug, check_job(name, str(reduced), [variant], self.plan.check_timeout, python=self.plan.python)

    # Models

    def check_models(self) -> None:
        self.say(f"models: {len(self.models)} under {', '.join(map(str, self.plan.variants))}")
        for attempt in range(1, max(self.plan.runs, CLEAN_RUNS) + 1):
            jobs = {job.name: (job, digest) for digest, job in self.check_jobs(attempt)}
            for job, result in self.pool.run(job for job, _ in jobs.values()):
                digest = jobs[job.name][1]
                for backend, answer in answers_of_check(job, result).items():
                    variant = str(Variant(backend, job.options))
                    self.store.observe(self.number, digest, variant, attempt, answer)
                    if answer.get("unreadable"):
                        self.store.call_unreadable(self.number, self.ids[digest], answer["message"])

    def check_jobs(self, attempt: int) -> Iterator[tuple[str, Job]]:
        for digest, model in self.models.items():
            groups: dict[tuple[str, ...], list[Variant]] = defaultdict(list)
            for variant in self.plan.variants:
                if self.wants_attempt(digest, variant, attempt):
                    groups[variant.options].append(variant)
            for index, variants in enumerate(groups.values()):
                name = f"{self.number}-check-{self.ids[digest]}-{index}-{attempt}"
                yield digest, check_job(name, model.name, variants, self.plan.check_timeout, python=self.plan.python)

    def wants_attempt(self, digest: str, variant: Variant, attempt: int) -> bool:
        seen = self.store.observations(self.number, digest, str(variant))
        if len(seen) >= attempt:
            return False
        if attempt == 1:
            return True
        if any(row["outcome"] == "fail" for row in seen):
            return attempt <= self.plan.runs
        # It passes: that has to be sure where it showed a bug.
        showed = self.store.one(
            "SELECT 1 FROM sighting JOIN bug ON bug.id = bug_id WHERE model_id = ? AND variant = ?",
            self.ids[digest], str(variant),
        )  # fmt: skip
        return showed is not None and attempt <= CLEAN_RUNS and all(row["outcome"] == "pass" for row in seen)

    # Reductions

    def reduce_failures(self) -> None:
        todo = [pair for pair in self.failures() if not self.is_done(*pair) and not self.explain(*pair)]
        self.say(f"to reduce: {len(todo)}")
        ends = time.monotonic() + self.plan.budget
        given: set[tuple[str, str]] = set()

        def jobs() -> Iterator[Job]:
            for digest, variant in todo:
                if time.monotonic() >= ends:
                    return
                given.add((digest, variant))
                name = f"{self.number}-reduce-{self.ids[digest]}-{len(given)}"
                wanted[name] = (digest, variant)
                model, timeout, options = self.models[digest].name, self.plan.reduce_timeout, self.plan.reduce_options
                yield reduce_job(name, model, parse_variant(variant), timeout, options, python=self.plan.python)

        wanted: dict[str, tuple[str, str]] = {}
        for job, result in self.pool.run(jobs()):
            self.take_reduction(*wanted[job.name], result)
        with self.store.change() as db:
            for digest, variant in todo:
                if (digest, variant) not in given:
                    row = (self.number, self.ids[digest], variant, "the budget was spent")
                    db.execute("INSERT OR IGNORE INTO left_out VALUES (?, ?, ?, ?)", row)

    def failures(self) -> list[tuple[str, str]]:
        """Returns what failed in every run: first what was left out the night before, then the cheapest."""
        found = self.store.rows(
            "SELECT subject, variant, sum(seconds) AS cost FROM observation WHERE night_id = ? "
            "AND subject NOT LIKE 'bug %' GROUP BY subject, variant HAVING min(outcome = 'fail') ORDER BY cost",
            self.number,
        )  # fmt: skip
        last = self.store.last_night(self.number)
        rows = self.store.rows("SELECT model_id, variant FROM left_out WHERE night_id = ?", last)
        waiting = {(row["model_id"], row["variant"]) for row in rows}
        pairs = [(row["subject"], row["variant"]) for row in found if row["subject"] in self.models]
        return sorted(pairs, key=lambda pair: (self.ids[pair[0]], pair[1]) not in waiting)

    def is_done(self, digest: str, variant: str) -> bool:
        query = "SELECT 1 FROM reduction WHERE night_id = ? AND model_id = ? AND variant = ?"
        return self.store.one(query, self.number, self.ids[digest], variant) is not None

    def explain(self, digest: str, variant: str) -> bool:
        """Adds a sighting and returns True if an earlier night's reduction of this very model still holds: it fails in
        the same way as then, and what it was reduced to fails tonight too. Nothing less explains a failure."""
        earlier = self.store.one(
            "SELECT reduction.night_id AS night, bug_id FROM reduction WHERE model_id = ? AND variant = ? "
            "AND bug_id IS NOT NULL AND night_id < ? ORDER BY night_id DESC LIMIT 1",
            self.ids[digest], variant, self.number,
        )  # fmt: skip
        if earlier is None or self.answers(f"bug {earlier['bug_id']}", variant).failed == 0:
            return False
        then = self.store.observations(earlier["night"], digest, variant)
        tonight = self.store.observations(self.number, digest, variant)
        if not then or then[0]["signature"] != tonight[0]["signature"]:
            return False
        bug = bug_for(self.store, earlier["bug_id"], self.ids[digest])
        why = f"reduced to it in night {earlier['night']}; both fail in the same way tonight"
        self.store.add_sighting(bug, self.ids[digest], self.number, why)
        return True

    def take_reduction(self, digest: str, variant: str, result: Result) -> None:
        model, report = self.ids[digest], result.output
        if result.lost or result.exit_code not in REDUCED or not report or result.folder is None:
            why = result.lost or result.message[-600:] or f"exit code {result.exit_code}"
            self.store.add_reduction(self.number, model, variant, result.seconds, f"not reduced: {why}")
            self.say(f"  {self.models[digest].shown} under {variant}: not reduced: {why}")
            return
        key = key_of(report, variant, digest)
        artefact = self.store.keep(result.folder / "repro")
        message = report["verdict"]["message"]
        bug = self.store.add_reduction(self.number, model, variant, result.seconds, message, key, artefact)
        self.say(f"  {self.models[digest].shown} under {variant}: bug {bug}, {result.seconds:.1f} s")

    # States

    def answers(self, subject: str, variant: str) -> Answers:
        seen = [row["outcome"] for row in self.store.observations(self.number, subject, variant)]
        return Answers(seen.count("fail"), seen.count("pass"), seen.count("no answer"))

    def answers_of_original(self, digest: str, variant: str) -> Answers:
        """A model that is gone, or a backend that was not asked, gives no answer: neither is a fix."""
        found = self.answers(digest, variant)
        return found if found != Answers() else Answers(unanswered=1)

    def states(self) -> dict[int, tuple[State, Evidence]]:
        states = {}
        for bug in self.store.bugs():
            originals = self.store.rows(
                "SELECT DISTINCT digest FROM sighting JOIN model ON model.id = model_id WHERE bug_id = ?", bug["id"]
            )
            sighted = self.store.one("SELECT 1 FROM sighting WHERE bug_id = ? AND night_id = ?", bug["id"], self.number)
            evidence = evidence_of(
                self.answers(f"bug {bug['id']}", bug["variant"]),
                [self.answers_of_original(row["digest"], bug["variant"]) for row in originals],
                sighted is not None,
            )
            states[bug["id"]] = next_state(self.store.state_before(bug["id"], self.number), evidence), evidence
        return states
