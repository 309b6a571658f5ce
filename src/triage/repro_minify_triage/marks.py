"""Decisions of people about bugs. They stand above what the program thinks, and stay."""

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import TriageError

if TYPE_CHECKING:
    from .store import Row, Store


@dataclass(frozen=True)
class Decisions:
    duplicate_of: int | None = None
    not_a_bug: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> str | None:
        """The word that is shown in the place of the program's own, or None."""
        if self.duplicate_of is not None:
            return f"duplicate of {self.duplicate_of}"
        return "not a bug" if self.not_a_bug is not None else None


def bug_row(store: "Store", bug: int) -> "Row":
    row = store.one("SELECT * FROM bug WHERE id = ?", bug)
    if row is None:
        raise TriageError(f"{bug}: no bug of that number in {store.folder}; `repro-minify-triage list` shows them")
    return row


def decisions_of(store: "Store", bug: int) -> Decisions:
    """The last decision of each kind is in force; notes add up."""
    duplicate, not_a_bug, notes = None, None, []
    for row in store.rows("SELECT * FROM decision WHERE bug_id = ? ORDER BY id", bug):
        if row["word"] == "duplicate-of":
            duplicate = row["other_bug_id"]
        elif row["word"] == "not-a-bug":
            not_a_bug = row["text"]
        elif row["word"] == "note":
            notes.append(row["text"])
    return Decisions(duplicate, not_a_bug, tuple(notes))


def mark_duplicate(store: "Store", bug: int, other: int) -> None:
    bug_row(store, bug)
    bug_row(store, other)
    if bug == other:
        raise TriageError(f"--duplicate-of {other}: that is the bug itself")
    seen = {bug}
    following: int | None = other
    while following is not None:
        if following in seen:
            raise TriageError(f"--duplicate-of {other}: bug {other} is itself a duplicate of bug {bug}")
        seen.add(following)
        following = decisions_of(store, following).duplicate_of
    decide(store, bug, "duplicate-of", other=other)


def mark_not_a_bug(store: "Store", bug: int, why: str) -> None:
    bug_row(store, bug)
    decide(store, bug, "not-a-bug", text=why)


def add_note(store: "Store", bug: int, text: str) -> None:
    bug_row(store, bug)
    decide(store, bug, "note", text=text)


def decide(store: "Store", bug: int, word: str, text: str = "", other: int | None = None) -> None:
    with store.change() as db:
        insert_decision(db, bug, word, text, other)


def insert_decision(
    db: sqlite3.Connection, bug: int, word: str, text: str = "", other: int | None = None, model: int | None = None
) -> None:
    from .store import now

    db.execute(
        "INSERT INTO decision (bug_id, word, other_bug_id, model_id, text, at) VALUES (?, ?, ?, ?, ?, ?)",
        (bug, word, other, model, text, now()),
    )


def split(store: "Store", bug: int, model: str) -> int:
    """Moves the model's sightings to a new bug, now and in all nights to come. Returns the new bug's number."""
    row = bug_row(store, bug)
    found = store.rows(
        "SELECT DISTINCT model.id, model.digest FROM sighting JOIN model ON model.id = model_id "
        "WHERE bug_id = ? AND (model.path = ? OR substr(model.path, -length(?)) = ? OR model.digest = ?)",
        bug, model, f"/{model}", f"/{model}", model,
    )  # fmt: skip
    if len(found) != 1:
        many = "several models" if found else "no model"
        raise TriageError(
            f"--split {model}: bug {bug} was seen in {many} of that name; give a path as `show {bug}` has it"
        )
    others = store.one("SELECT count(DISTINCT model_id) AS n FROM sighting WHERE bug_id = ?", bug)
    if others and others["n"] == 1:
        raise TriageError(f"--split {model}: it is the only model that shows bug {bug}")
    with store.change() as db:
        artefact = db.execute(
            "SELECT artefact FROM reduction WHERE bug_id = ? AND model_id = ? ORDER BY night_id DESC",
            (bug, found[0]["id"]),
        ).fetchone()
        added = db.execute(
            "INSERT INTO bug (variant, key, parts, artefact, first_night) "
            "SELECT variant, key || ?, parts, ?, first_night FROM bug WHERE id = ?",
            (f"+{found[0]['digest'][:16]}", artefact["artefact"] if artefact else row["artefact"], bug),
        )
        number = int(added.lastrowid or 0)
        db.execute("UPDATE sighting SET bug_id = ? WHERE bug_id = ? AND model_id = ?", (number, bug, found[0]["id"]))
        db.execute("UPDATE reduction SET bug_id = ? WHERE bug_id = ? AND model_id = ?", (number, bug, found[0]["id"]))
        db.execute(
            "INSERT INTO bug_night SELECT ?, night_id, standing, clean_nights, shown, evidence "
            "FROM bug_night WHERE bug_id = ?",
            (number, bug),
        )
        insert_decision(db, bug, "split", other=number, model=found[0]["id"])
    return number


def bug_for(store: "Store", bug: int, model: int) -> int:
    """Where a sighting of the bug in this model belongs, once people have split it."""
    query = (
        "SELECT other_bug_id FROM decision WHERE bug_id = ? AND model_id = ? AND word = 'split' "
        "ORDER BY id DESC LIMIT 1"
    )
    row = store.one(query, bug, model)
    return int(row["other_bug_id"]) if row else bug
