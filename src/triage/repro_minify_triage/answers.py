"""Reads off a result of repro-minify the answer about each backend: pass, fail, or no answer. Never a guess."""

from typing import Any

from .identity import without_numbers
from .jobs import NO_ANSWER, Job, Result

CHECKED = (0, 1)  # the exit codes of a `run` that came to a verdict; any other says nothing of the backend


def no_answer(why: str, seconds: float = 0.0) -> dict[str, Any]:
    return {"outcome": NO_ANSWER, "message": why or "nothing was said", "seconds": seconds}


def signature_of(row: dict[str, Any]) -> str:
    signatures = row["details"]["signatures"]
    first = signatures[0] if signatures else {"kind": "", "where": "", "detail": ""}
    return " | ".join((first["kind"], first["where"], without_numbers(first["detail"])))


def answer_of_row(row: dict[str, Any]) -> dict[str, Any]:
    if "refused" in row:
        return no_answer(row["refused"]) | {"unreadable": bool(row.get("unreadable"))}
    verdict, seconds = row["verdict"], float(row["details"]["wall_seconds"])
    if row["details"]["eager_failed"]:
        return no_answer(f"eager itself failed: {verdict['message']}", seconds)
    if row["details"]["no_answer"] or verdict["outcome"] not in ("pass", "fail"):
        return no_answer(verdict["message"], seconds)
    failed = row["rate"]["failed"] >= row["rate"]["need"]
    numbers = {"kind": verdict["kind"], "outputs": row["details"]["outputs"], "rate": row["rate"]}
    return {
        "outcome": "fail" if failed else "pass",
        "signature": signature_of(row) if failed else "",
        "message": verdict["message"],
        "numbers": numbers if failed else None,
        "seconds": seconds,
    }


def rows_by_backend(result: Result) -> dict[str, list[dict[str, Any]]]:
    """One each, but for a log of several graphs, which has a row for each graph."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in result.output or []:
        if isinstance(row, dict):
            rows.setdefault(row.get("backend", ""), []).append(row)
    return rows


def worst(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the answer of a log: it fails where one of its graphs does, and passes where each of them does."""
    order = {"fail": 0, NO_ANSWER: 1, "pass": 2}
    return min(answers, key=lambda answer: order[answer["outcome"]])


def answers_of_check(job: Job, result: Result) -> dict[str, dict[str, Any]]:
    """Returns the answers by backend. A backend without a row gave no answer, whatever the exit code."""
    rows = rows_by_backend(result)
    share = result.seconds / len(job.backends)
    answers = {}
    for backend in job.backends:
        alone = len(job.backends) == 1
        refused = any("refused" in row for row in rows.get(backend, []))
        if result.lost and backend not in rows:
            answers[backend] = no_answer(result.lost, share)
        elif backend not in rows or (alone and result.exit_code not in CHECKED and not refused):
            answers[backend] = no_answer(result.message[-600:] or f"exit code {result.exit_code}", share)
        else:
            answers[backend] = worst([answer_of_row(row) for row in rows[backend]])
            answers[backend]["seconds"] = answers[backend].get("seconds") or share
    return answers
