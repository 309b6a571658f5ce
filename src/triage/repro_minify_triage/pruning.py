"""Removes what of an old night can go: answers, reductions that later ones stand for, folders.

What triage decides by stays: every bug with its program, its states, marks and sightings, the newest reduction of each
model that is still among the models, and the answers that explain it. Of a pruned night stays what it came to.
"""

import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from .errors import TriageError
from .store import Store, now

LAST_NIGHTS = 2  # the last, and the one that it is compared with


@dataclass(frozen=True)
class Pruning:
    nights: tuple[int, ...]
    answers: int
    reductions: int
    folders: tuple[Path, ...]
    bytes: int


def old_nights(store: Store, keep_nights: int | None, older_than: float | None) -> list[int]:
    """Those that have ended, but for the last `keep_nights`, and that ended `older_than` seconds ago or earlier."""
    if keep_nights is None and older_than is None:
        raise TriageError("prune: say what is old: --keep-nights 30, --older-than 90d, or both")
    ended = store.rows("SELECT id, ended FROM night WHERE ended IS NOT NULL ORDER BY id")
    reported = [night["id"] for night in store.nights()][-max(keep_nights or 0, LAST_NIGHTS) :]
    before = (datetime.now(UTC) - timedelta(seconds=older_than or 0)).isoformat(timespec="milliseconds")
    return [row["id"] for row in ended if row["ended"] <= before and (not reported or row["id"] < reported[0])]


# The reductions of old nights that explain nothing any more.
SUPERSEDED = """
  SELECT night_id, model_id, variant FROM reduction AS old WHERE night_id IN ({old}) AND (
    EXISTS (SELECT 1 FROM reduction AS later WHERE later.model_id = old.model_id AND later.variant = old.variant
            AND later.bug_id IS NOT NULL AND later.night_id > old.night_id)
    OR bug_id IS NULL
    OR NOT EXISTS (SELECT 1 FROM night_model WHERE night_model.model_id = old.model_id
                   AND night_model.night_id NOT IN ({old})))
"""
# The answers that explain nothing: none of the nights in which the very model was reduced under the same backend.
UNUSED_ANSWERS = """
  SELECT observation.rowid FROM observation WHERE night_id IN ({old}) AND NOT EXISTS (
    SELECT 1 FROM reduction JOIN model ON model.id = model_id WHERE reduction.night_id = observation.night_id
    AND digest = subject AND reduction.variant = observation.variant AND bug_id IS NOT NULL
    AND (reduction.night_id, model_id, reduction.variant) NOT IN ({superseded}))
"""


def prune(store: Store, nights: list[int], does_it: bool) -> Pruning:
    """Removes what goes with these nights, and returns it; with `does_it` false, it only looks. The rows go in one
    change, then the folders: killed between the two, the next call removes what is left."""
    old = ", ".join(map(str, nights))
    superseded = SUPERSEDED.format(old=old)
    unused = UNUSED_ANSWERS.format(old=old, superseded=superseded)
    answers, reductions = (len(store.rows(query)) for query in (unused, superseded))
    fresh = [night for night in nights if not store.one("SELECT 1 FROM pruned WHERE night_id = ?", night)]
    kept = needed_artefacts(store, superseded)
    folders = unneeded_folders(store, kept)
    found = Pruning(tuple(fresh), answers, reductions, folders, sum(map(size_of, folders)))
    if does_it:
        with store.change() as db:
            for night in fresh:
                db.execute(
                    "INSERT INTO pruned SELECT ?, (SELECT count(*) FROM night_model WHERE night_id = ?), count(*), "
                    "coalesce(sum(seconds), 0), ? FROM observation WHERE night_id = ?",
                    (night, night, now(), night),
                )
            db.execute(f"DELETE FROM observation WHERE rowid IN ({unused})")
            db.execute(f"DELETE FROM reduction WHERE (night_id, model_id, variant) IN ({superseded})")
            for table in ("night_model", "left_out"):
                db.execute(f"DELETE FROM {table} WHERE night_id IN ({old})")
            unneeded = [(digest["digest"],) for digest in store.rows("SELECT digest FROM artefact")
                        if digest["digest"] not in kept]  # fmt: skip
            db.executemany("DELETE FROM artefact WHERE digest = ?", unneeded)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        store.db.execute("VACUUM")
    return found


def needed_artefacts(store: Store, superseded: str) -> set[str]:
    rows = store.rows(
        "SELECT artefact FROM bug UNION SELECT artefact FROM reduction WHERE artefact IS NOT NULL "
        f"AND (night_id, model_id, variant) NOT IN ({superseded})"
    )
    return {row["artefact"] for row in rows}


def unneeded_folders(store: Store, kept: set[str]) -> tuple[Path, ...]:
    """Returns what is in artefacts/ and belongs to nothing, which is also what a killed run had begun to copy."""
    folder = store.folder / "artefacts"
    return tuple(sorted(each for each in folder.iterdir() if each.name not in kept)) if folder.is_dir() else ()


def size_of(folder: Path) -> int:
    return sum((Path(where) / name).lstat().st_size for where, _, names in os.walk(folder) for name in names)
