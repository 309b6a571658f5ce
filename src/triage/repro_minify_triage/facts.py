"""What a report says, as plain data: every form of it (HTML, JSON, JUnit, Markdown, the terminal) is made of this."""

import json
from collections import defaultdict
from typing import Any

from .errors import TriageError
from .identity import furthest_first, perhaps_same
from .marks import words_of
from .states import Evidence, Shown, Standing, State, outlook
from .store import Row, Store

ALARMS = (Shown.NEW, Shown.REGRESSED)


def facts_of(store: Store) -> dict[str, Any]:
    nights = store.nights()
    if not nights:
        raise TriageError(f"{store.folder}: no night has ended there yet; `repro-minify-triage run` goes on with it")
    last = nights[-1]["id"]
    bugs = [bug_facts(store, bug, last) for bug in store.bugs()]
    keys = store.keys()
    order = {number: place for place, number in enumerate(furthest_first(keys))}
    for bug in bugs:
        others = [(number, key) for number, key in keys.items() if number != bug["id"]]
        bug["perhaps_same"] = [{"id": number, "why": why} for number, why in perhaps_same(keys[bug["id"]], others)]
    bugs.sort(key=lambda bug: (rank_of(bug["state"]), order[bug["id"]]))
    return {
        "nights": [night_facts(store, night) for night in nights],
        "bugs": bugs,
        "no_answer": no_answer_facts(store, last),
        "flaky": flaky_facts(store, last),
        "not_reduced": not_reduced_facts(store, last),
        "left_out": left_out_facts(store, last),
        "matrix": matrix_facts(store, last),
    }


def rank_of(state: str) -> int:
    order = [Shown.NEW, Shown.REGRESSED, Shown.FLAKY, Shown.NO_ANSWER, Shown.KNOWN, Shown.FIXED]
    return order.index(Shown(state)) if state in list(Shown) else len(order)


def night_facts(store: Store, night: Row) -> dict[str, Any]:
    build = store.one("SELECT * FROM build WHERE id = ?", night["build_id"])
    models = store.one("SELECT count(*) AS n FROM night_model WHERE night_id = ?", night["id"])
    shown: dict[str, int] = defaultdict(int)
    for row in store.rows("SELECT bug_id, shown FROM bug_night WHERE night_id = ?", night["id"]):
        shown[words_of(store, row["bug_id"]).shown or row["shown"]] += 1
    checks = store.one("SELECT count(*) AS n, sum(seconds) AS s FROM observation WHERE night_id = ?", night["id"])
    assert build and models and checks
    return {
        "id": night["id"],
        "started": night["started"],
        "ended": night["ended"],
        "build": {key: build[key] for key in ("tool", "program", "torch", "python", "compiler", "machine")},
        "plan": json.loads(night["plan"]),
        "models": models["n"],
        "checks": checks["n"],
        "check_seconds": checks["s"] or 0.0,
        "bugs": dict(shown),
    }


def bug_facts(store: Store, bug: Row, last: int) -> dict[str, Any]:
    words = words_of(store, bug["id"])
    strip = store.rows("SELECT * FROM bug_night WHERE bug_id = ? ORDER BY night_id", bug["id"])
    sightings = store.rows(
        "SELECT sighting.night_id, sighting.evidence, model.path, model.digest FROM sighting JOIN model "
        "ON model.id = model_id WHERE bug_id = ? ORDER BY sighting.night_id, model.path",
        bug["id"],
    )
    folder = store.artefact_folder(bug["artefact"])
    report = report_of(folder)
    tonight = strip[-1] if strip else None
    passes = "" if words.shown or tonight is None else outlook_of(tonight)
    return {
        "id": bug["id"],
        "state": words.shown or (tonight["shown"] if tonight else Shown.NEW),
        "thought": tonight["shown"] if tonight else Shown.NEW,
        "standing": tonight["standing"] if tonight else "none",
        "evidence": tonight["evidence"] if tonight else "",
        "outlook": passes,
        "backend": bug["variant"],
        "key": bug["key"],
        "parts": json.loads(bug["parts"]),
        "first_night": bug["first_night"],
        "nights": [{"night": row["night_id"], "shown": row["shown"], "evidence": row["evidence"]} for row in strip],
        "sightings": [
            {
                "model": row["path"],
                "digest": row["digest"],
                "backend": bug["variant"],
                "night": row["night_id"],
                "evidence": row["evidence"],
            }
            for row in sightings
        ],
        "models": len({row["digest"] for row in sightings}),
        "program": (report.get("program") or {}).get("source", ""),
        "message": (report.get("verdict") or {}).get("message", ""),
        "verified": report.get("verified"),
        "duplicate_of": words.duplicate_of,
        "not_a_bug": words.not_a_bug,
        "notes": list(words.notes),
        "repro": str(folder.resolve()),
        "files": sorted(file.name for file in folder.iterdir()) if folder.is_dir() else [],
    }


def outlook_of(night: Row) -> str:
    state = State(Standing(night["standing"]), night["clean_nights"], Shown(night["shown"]))
    return outlook(state, Evidence(night["evidence"]))


def report_of(folder: Any) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    except (OSError, json.JSONDecodeError):
        return {}
    return report


def reasons(store: Store, query: str, night: int) -> list[dict[str, Any]]:
    """Of a query for path, variant and why."""
    rows = store.rows(query, night)
    return [{"model": row["path"], "backend": row["variant"], "why": row["why"]} for row in rows]


def no_answer_facts(store: Store, night: int) -> list[dict[str, Any]]:
    return reasons(
        store,
        "SELECT path, variant, message AS why FROM observation JOIN model ON model.digest = subject "
        "WHERE night_id = ? AND outcome = 'no answer' GROUP BY subject, variant ORDER BY path, variant",
        night,
    )


def flaky_facts(store: Store, night: int) -> list[dict[str, Any]]:
    rows = store.rows(
        "SELECT path, variant, sum(outcome = 'fail') AS failed, count(*) AS runs FROM observation JOIN model "
        "ON model.digest = subject WHERE night_id = ? GROUP BY subject, variant "
        "HAVING max(outcome = 'fail') AND max(outcome = 'pass') ORDER BY path, variant",
        night,
    )
    return [
        {"model": row["path"], "backend": row["variant"], "failed": row["failed"], "runs": row["runs"]} for row in rows
    ]


def not_reduced_facts(store: Store, night: int) -> list[dict[str, Any]]:
    return reasons(
        store,
        "SELECT path, variant, message AS why FROM reduction JOIN model ON model.id = model_id "
        "WHERE night_id = ? AND bug_id IS NULL ORDER BY path, variant",
        night,
    )


def left_out_facts(store: Store, night: int) -> list[dict[str, Any]]:
    return reasons(
        store,
        "SELECT path, variant, why FROM left_out JOIN model ON model.id = model_id WHERE night_id = ? "
        "ORDER BY path, variant",
        night,
    )


def outcomes(store: Store, night: int | None) -> dict[tuple[str, str], str]:
    """By path and backend: pass, fail, flaky, or no answer. The path is that night's: models are renamed."""
    rows = store.rows(
        "SELECT night_model.path, variant, max(outcome = 'fail') AS f, max(outcome = 'pass') AS p, "
        "max(outcome = 'no answer') AS n FROM observation JOIN model ON model.digest = subject "
        "JOIN night_model ON night_model.model_id = model.id AND night_model.night_id = observation.night_id "
        "WHERE observation.night_id = ? GROUP BY subject, variant",
        night,
    )
    return {
        (row["path"], row["variant"]): "flaky" if row["f"] and row["p"] else
        "fail" if row["f"] else "no answer" if row["n"] else "pass"
        for row in rows
    }  # fmt: skip


def matrix_facts(store: Store, night: int) -> dict[str, Any]:
    tonight, yesterday = outcomes(store, night), outcomes(store, store.last_night(night))
    paths, backends = sorted({path for path, _ in tonight}), sorted({backend for _, backend in tonight})
    cells = [[tonight.get((path, backend), "") for backend in backends] for path in paths]
    before = [[yesterday.get((path, backend), "") for backend in backends] for path in paths]
    return {"models": paths, "backends": backends, "tonight": cells, "yesterday": before}


def exit_code_of(facts: dict[str, Any]) -> int:
    """0 nothing new, 1 new or regressed bugs, 3 some models got no answer."""
    if any(bug["state"] in ALARMS for bug in facts["bugs"]):
        return 1
    return 3 if facts["no_answer"] else 0
