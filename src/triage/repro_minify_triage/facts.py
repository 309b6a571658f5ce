"""Collects what a report says as plain data: every form (HTML, JSON, JUnit, Markdown, the terminal) is made of this."""

import json
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from .config import seconds_of
from .errors import TriageError
from .identity import furthest_first, perhaps_same
from .marks import decisions_of
from .states import Evidence, Shown, Standing, State, outlook
from .store import Row, Store

ALARMS = (Shown.NEW, Shown.REGRESSED)


def facts_of(store: Store, since: str | None = None) -> dict[str, Any]:
    """`since`: what became of the bugs from that night on, and not in the last night alone."""
    nights = store.nights()
    if not nights:
        raise TriageError(f"{store.folder}: no night has ended there yet; `repro-minify-triage run` goes on with it")
    last = nights[-1]["id"]
    first = last if since is None else first_night(nights, since)
    bugs = [bug for row in store.bugs() if (bug := bug_facts(store, row, first)) is not None]
    keys = store.keys()
    order = {number: place for place, number in enumerate(furthest_first(keys))}
    for bug in bugs:
        others = [(number, key) for number, key in keys.items() if number != bug["id"]]
        bug["perhaps_same"] = [{"id": number, "why": why} for number, why in perhaps_same(keys[bug["id"]], others)]
    bugs.sort(key=lambda bug: (rank_of(bug["state"]), order[bug["id"]]))
    return {
        "since": first if since is not None else None,
        "nights": [night_facts(store, night) for night in nights if since is None or night["id"] >= first],
        "bugs": bugs,
        "no_answer": no_answer_facts(store, last),
        "unreadable": unreadable_facts(store, last, first),
        "flaky": flaky_facts(store, last),
        "failing": failing_facts(store, last),
        "not_reduced": not_reduced_facts(store, last),
        "left_out": left_out_facts(store, last),
        "matrix": matrix_facts(store, last, first, bugs),
    }


def first_night(nights: list[Row], since: str) -> int:
    """Returns the first night since a night's number, a day (2026-11-20), or an age (7d, 12h)."""
    if since.isdecimal():
        found = [night["id"] for night in nights if night["id"] >= int(since)]
    else:
        try:
            day = date.fromisoformat(since).isoformat()
        except ValueError:
            ago = timedelta(seconds=seconds_of(since, "--since", "a night's number, a day as 2026-11-20, or 7d, 12h"))
            day = (datetime.now(UTC) - ago).isoformat()
        found = [night["id"] for night in nights if night["started"] >= day]
    if not found:
        raise TriageError(f"--since {since}: no night since then; the last is night {nights[-1]['id']}")
    return int(found[0])


def rank_of(state: str) -> int:
    order = [Shown.NEW, Shown.REGRESSED, Shown.FLAKY, Shown.NO_ANSWER, Shown.KNOWN, Shown.FIXED]
    return order.index(Shown(state)) if state in list(Shown) else len(order)


def night_facts(store: Store, night: Row) -> dict[str, Any]:
    build = store.one("SELECT * FROM build WHERE id = ?", night["build_id"])
    models = store.one("SELECT count(*) AS n FROM night_model WHERE night_id = ?", night["id"])
    shown: dict[str, int] = defaultdict(int)
    for row in store.rows("SELECT bug_id, shown FROM bug_night WHERE night_id = ?", night["id"]):
        shown[decisions_of(store, row["bug_id"]).shown or row["shown"]] += 1
    checks = store.one("SELECT count(*) AS n, sum(seconds) AS s FROM observation WHERE night_id = ?", night["id"])
    pruned = store.one("SELECT models, checks, seconds FROM pruned WHERE night_id = ?", night["id"])
    assert build and models and checks
    return {
        "id": night["id"],
        "started": night["started"],
        "ended": night["ended"],
        "build": {key: build[key] for key in ("tool", "program", "torch", "python", "compiler", "machine")},
        "plan": json.loads(night["plan"]),
        "models": pruned["models"] if pruned else models["n"],
        "checks": pruned["checks"] if pruned else checks["n"],
        "check_seconds": pruned["seconds"] if pruned else checks["s"] or 0.0,
        "pruned": pruned is not None,
        "bugs": dict(shown),
    }


def state_of(history: list[Row], first: int) -> str | None:
    """Returns the word for what became of a bug since a night; None where there are several nights since then, and it
    was fixed before them and stayed so. `history` has the bug's row of each night."""
    if not history:
        return Shown.NEW
    words = [row["shown"] for row in history if row["night_id"] >= first] or [history[-1]["shown"]]
    if words[-1] == Shown.FIXED:
        before = [row["shown"] for row in history if row["night_id"] < first][-1:]
        is_old = len(words) > 1 and before == [Shown.FIXED] and set(words) == {Shown.FIXED}
        return None if is_old else Shown.FIXED
    return next((alarm for alarm in ALARMS if alarm in words), words[-1])


def bug_facts(store: Store, bug: Row, first: int) -> dict[str, Any] | None:
    decisions = decisions_of(store, bug["id"])
    history = store.rows("SELECT * FROM bug_night WHERE bug_id = ? ORDER BY night_id", bug["id"])
    state = state_of(history, first)
    if state is None:
        return None
    sightings = store.rows(
        "SELECT sighting.night_id, sighting.evidence, model.path, model.digest FROM sighting JOIN model "
        "ON model.id = model_id WHERE bug_id = ? ORDER BY sighting.night_id, model.path",
        bug["id"],
    )
    folder = store.artefact_folder(bug["artefact"])
    report = report_of(folder)
    tonight = history[-1] if history else None
    return {
        "id": bug["id"],
        "state": decisions.shown or state,
        "thought": tonight["shown"] if tonight else Shown.NEW,
        "standing": tonight["standing"] if tonight else "none",
        "evidence": tonight["evidence"] if tonight else "",
        "outlook": "" if decisions.shown or tonight is None else outlook_of(tonight),
        "backend": bug["variant"],
        "key": bug["key"],
        "parts": json.loads(bug["parts"]),
        "first_night": bug["first_night"],
        "nights": [{"night": row["night_id"], "shown": row["shown"], "evidence": row["evidence"]} for row in history],
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
        "duplicate_of": decisions.duplicate_of,
        "not_a_bug": decisions.not_a_bug,
        "notes": list(decisions.notes),
        "repro": str(folder.resolve()),
        "files": files_of(folder),
        "programs": programs_of(store, bug),
    }


def files_of(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []


def programs_of(store: Store, bug: Row) -> list[dict[str, Any]]:
    """Every reduced program that was taken for this bug, once for each form: one that differs may be another fault."""
    rows = store.rows(
        "SELECT artefact, model.path FROM reduction JOIN model ON model.id = model_id WHERE bug_id = ? "
        "ORDER BY artefact <> ?, night_id, model.path",
        bug["id"], bug["artefact"],
    )  # fmt: skip
    models: dict[str, dict[str, None]] = {bug["artefact"]: {}}
    for row in rows:
        models.setdefault(row["artefact"], {})[row["path"]] = None
    programs: dict[str, dict[str, Any]] = {}
    for artefact, paths in models.items():
        folder = store.artefact_folder(artefact)
        program = report_of(folder).get("program") or {}
        canonical = program.get("canonical", artefact)
        if canonical in programs:
            programs[canonical]["models"] = sorted({*programs[canonical]["models"], *paths})
            continue
        programs[canonical] = {"canonical": program.get("canonical", ""), "source": program.get("source", ""),
                               "models": sorted(paths), "repro": str(folder.resolve()),
                               "files": files_of(folder)}  # fmt: skip
    return list(programs.values())


def outlook_of(night: Row) -> str:
    state = State(Standing(night["standing"]), night["clean_nights"], Shown(night["shown"]))
    return outlook(state, Evidence(night["evidence"]))


def report_of(folder: Path) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
    return report


def of_night(table: str) -> str:
    """Joins `table`, which has `night_id`, to the names of its models that night: they are moved and renamed."""
    return f"LEFT JOIN night_model AS named ON named.model_id = model.id AND named.night_id = {table}.night_id "


PATH = "coalesce(named.path, model.path) AS path"


def reasons(store: Store, query: str, night: int) -> list[dict[str, Any]]:
    """Returns the rows of a query for path, variant and why."""
    rows = store.rows(query, night)
    return [{"model": row["path"], "backend": row["variant"], "why": row["why"]} for row in rows]


def no_answer_facts(store: Store, night: int) -> list[dict[str, Any]]:
    return reasons(
        store,
        f"SELECT {PATH}, variant, message AS why FROM observation JOIN model ON model.digest = subject "
        f"{of_night('observation')} WHERE observation.night_id = ? AND outcome = 'no answer' "
        "AND NOT EXISTS (SELECT 1 FROM unreadable WHERE unreadable.night_id = observation.night_id "
        "AND unreadable.model_id = model.id) GROUP BY subject, variant ORDER BY 1, variant",
        night,
    )


def unreadable_facts(store: Store, night: int, first: int) -> list[dict[str, Any]]:
    """`is_new`: it could be read, or was not there, before the first night that is reported."""
    rows = store.rows(
        f"SELECT {PATH}, why, NOT EXISTS (SELECT 1 FROM unreadable AS earlier "
        "JOIN night ON night.id = earlier.night_id WHERE earlier.model_id = unreadable.model_id AND night.id < ? "
        "AND NOT abandoned) AS is_new "
        f"FROM unreadable JOIN model ON model.id = unreadable.model_id {of_night('unreadable')} "
        "WHERE unreadable.night_id = ? ORDER BY 1",
        first, night,
    )  # fmt: skip
    return [
        {"model": row["path"], "why": row["why"].removeprefix(f"{row['path']}: "), "is_new": bool(row["is_new"])}
        for row in rows
    ]


def failing_facts(store: Store, night: int) -> list[dict[str, Any]]:
    rows = store.rows(
        f"SELECT {PATH}, variant, message FROM observation JOIN model ON model.digest = subject "
        f"{of_night('observation')} WHERE observation.night_id = ? AND outcome = 'fail' "
        "GROUP BY subject, variant ORDER BY 1, variant",
        night,
    )
    return [{"model": row["path"], "backend": row["variant"], "message": row["message"]} for row in rows]


def flaky_facts(store: Store, night: int) -> list[dict[str, Any]]:
    rows = store.rows(
        f"SELECT {PATH}, variant, sum(outcome = 'fail') AS failed, count(*) AS runs FROM observation JOIN model "
        f"ON model.digest = subject {of_night('observation')} WHERE observation.night_id = ? "
        "GROUP BY subject, variant HAVING max(outcome = 'fail') AND max(outcome = 'pass') ORDER BY 1, variant",
        night,
    )
    return [
        {"model": row["path"], "backend": row["variant"], "failed": row["failed"], "runs": row["runs"]} for row in rows
    ]


def not_reduced_facts(store: Store, night: int) -> list[dict[str, Any]]:
    return reasons(
        store,
        f"SELECT {PATH}, variant, message AS why FROM reduction JOIN model ON model.id = reduction.model_id "
        f"{of_night('reduction')} WHERE reduction.night_id = ? AND bug_id IS NULL ORDER BY 1, variant",
        night,
    )


def left_out_facts(store: Store, night: int) -> list[dict[str, Any]]:
    return reasons(
        store,
        f"SELECT {PATH}, variant, why FROM left_out JOIN model ON model.id = left_out.model_id "
        f"{of_night('left_out')} WHERE left_out.night_id = ? ORDER BY 1, variant",
        night,
    )


def outcomes(store: Store, night: int | None) -> dict[tuple[str, str], tuple[str, float]]:
    """Returns by path and backend: pass, fail, flaky, no answer, or unreadable, and in how many seconds. The path is
    that night's: models are renamed."""
    rows = store.rows(
        "SELECT night_model.path, variant, max(outcome = 'fail') AS f, max(outcome = 'pass') AS p, "
        "max(outcome = 'no answer') AS n, sum(seconds) AS seconds, EXISTS (SELECT 1 FROM unreadable "
        "WHERE unreadable.model_id = model.id AND unreadable.night_id = observation.night_id) AS u "
        "FROM observation JOIN model ON model.digest = subject "
        "JOIN night_model ON night_model.model_id = model.id AND night_model.night_id = observation.night_id "
        "WHERE observation.night_id = ? GROUP BY subject, variant",
        night,
    )
    return {(row["path"], row["variant"]): (word_of(row), row["seconds"]) for row in rows}


def word_of(row: Row) -> str:
    if row["u"]:
        return "unreadable"
    if row["f"]:
        return "flaky" if row["p"] else "fail"
    return "no answer" if row["n"] else "pass"


def matrix_facts(store: Store, night: int, first: int, bugs: list[dict[str, Any]]) -> dict[str, Any]:
    tonight, before = outcomes(store, night), outcomes(store, store.last_night(first))
    paths, backends = sorted({path for path, _ in tonight}), sorted({backend for _, backend in tonight})
    links = links_of(bugs, night)

    def table(value: Callable[[tuple[str, str]], Any]) -> list[list[Any]]:
        return [[value((path, backend)) for backend in backends] for path in paths]

    return {
        "models": paths,
        "backends": backends,
        "tonight": table(lambda cell: tonight.get(cell, ("", 0.0))[0]),
        "yesterday": table(lambda cell: before.get(cell, ("", 0.0))[0]),
        "seconds": table(lambda cell: tonight.get(cell, ("", 0.0))[1]),
        "bugs": table(lambda cell: links.get(cell, [])),
    }


def links_of(bugs: list[dict[str, Any]], night: int) -> dict[tuple[str, str], list[int]]:
    """The bugs that explain tonight's failures, by path and backend."""
    links: dict[tuple[str, str], list[int]] = defaultdict(list)
    for bug in bugs:
        for sighting in bug["sightings"]:
            if sighting["night"] == night:
                links[sighting["model"], sighting["backend"]].append(bug["id"])
    return links


def exit_code_of(facts: dict[str, Any]) -> int:
    """0 nothing new, 1 new or regressed bugs, 3 some models got no answer, or fail as they did not the night before and
    were not reduced. A model that cannot be read counts in the first night that says so: it stays as it is until a
    person acts, and no later night is in trouble for it. A bug of a night that is not over has no state yet."""
    if any(bug["state"] in ALARMS and bug["nights"] for bug in facts["bugs"]):
        return 1
    is_new = any(row["is_new"] for row in facts["unreadable"])
    return 3 if facts["no_answer"] or is_new or has_new_unexplained(facts["matrix"]) else 0


def has_new_unexplained(matrix: dict[str, Any]) -> bool:
    """True if a model fails that did not the night before, and no bug explains it."""
    rows = zip(matrix["tonight"], matrix["yesterday"], matrix["bugs"], strict=True)
    cells = (cell for each in rows for cell in zip(*each, strict=True))
    return any(now == "fail" != before and not bugs for now, before, bugs in cells)
