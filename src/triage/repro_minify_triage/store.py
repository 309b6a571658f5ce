"""Keeps what is known in one SQLite file: schema, migrations, and one function for each question.

Each change is one transaction, so that a process killed at any moment leaves the store of a moment before. Artefacts
lie beside it in folders named by their content.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from .errors import TriageError
from .identity import Key
from .marks import bug_for
from .models import Model
from .states import Evidence, Shown, Standing, State

Row = sqlite3.Row
ARTEFACT_FILES_LEFT_OUT = ("journal.jsonl",)  # for going on with a search, which is over


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def migrations() -> list[str]:
    folder = resources.files(__package__) / "migrations"
    return [file.read_text() for file in sorted(folder.iterdir(), key=lambda f: f.name) if file.name.endswith(".sql")]


class Store:
    """Open until close(), or to the end of a `with`: the last to close the file writes to it, which is nothing to be
    left to the moment in which Python collects it."""

    def __init__(self, folder: Path, create: bool = False) -> None:
        self.folder = folder
        self.file = folder / "triage.sqlite"
        if create:
            try:
                (folder / "artefacts").mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise TriageError(
                    f"{folder}: cannot be made ({error.strerror}); name another folder with --store"
                ) from error
        if not create and not self.file.is_file():
            raise no_store(folder)
        try:
            self.require_known_version()
            self.db = self.connect()
        except sqlite3.DatabaseError as error:
            raise sentence_of(error, self.file) from error
        try:
            self.migrate()
        except BaseException as error:
            self.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise sentence_of(error, self.file) from error
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.db.close()

    def require_known_version(self) -> None:
        """Asked through a connection that only reads: another that closes the file would write what lies in its log."""
        if not self.file.is_file() or self.file.stat().st_size == 0:
            return
        with contextlib.closing(self.connect_to_read()) as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > (known := len(migrations())):
            raise TriageError(
                f"{self.file}: of schema version {version}, this program knows {known}; "
                "use the program that wrote it, or a newer one. Nothing was changed"
            )

    def connect_to_read(self) -> sqlite3.Connection:
        # A log beside it belongs to one who writes; where there is none, no other process writes.
        written = self.file.with_name(self.file.name + "-wal").exists()
        uri = f"{self.file.resolve().as_uri()}?mode=ro" + ("" if written else "&immutable=1")
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)

    def connect(self) -> sqlite3.Connection:
        if os.access(self.folder, os.W_OK):
            db = sqlite3.connect(self.file, isolation_level=None, timeout=30)
            try:
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=FULL")
                db.execute("PRAGMA foreign_keys=ON")
            except BaseException:
                db.close()
                raise
        else:
            db = self.connect_to_read()
        db.row_factory = Row
        return db

    def migrate(self) -> None:
        steps = migrations()
        version = self.db.execute("PRAGMA user_version").fetchone()[0]
        if version < len(steps) and not os.access(self.folder, os.W_OK):
            self.look_at_a_copy()
        for number, step in enumerate(steps[version:], version + 1):
            self.db.executescript(f"BEGIN IMMEDIATE;\n{step}\nPRAGMA user_version = {number};\nCOMMIT;")
        if not os.access(self.folder, os.W_OK):
            self.db.execute("PRAGMA query_only = ON")

    def look_at_a_copy(self) -> None:
        """An older schema that cannot be changed where it lies is read in memory as it would be."""
        copy = sqlite3.connect(":memory:", isolation_level=None)
        copy.row_factory = Row
        self.db.backup(copy)
        self.db.close()
        self.db = copy

    @contextlib.contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        try:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
            except BaseException:
                if self.db.in_transaction:  # SQLite itself takes back what found no room
                    self.db.execute("ROLLBACK")
                raise
            self.db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise sentence_of(error, self.file) from error

    def rows(self, query: str, *values: Any) -> list[Row]:
        return self.db.execute(query, values).fetchall()

    def one(self, query: str, *values: Any) -> Row | None:
        found: Row | None = self.db.execute(query, values).fetchone()
        return found

    # Nights

    def unfinished_night(self) -> Row | None:
        return self.one("SELECT * FROM night WHERE ended IS NULL ORDER BY id DESC LIMIT 1")

    def nights(self) -> list[Row]:
        return self.rows("SELECT * FROM night WHERE ended IS NOT NULL AND NOT abandoned ORDER BY id")

    def last_night(self, before: int) -> int | None:
        row = self.one("SELECT max(id) AS id FROM night WHERE id < ? AND ended IS NOT NULL AND NOT abandoned", before)
        return row["id"] if row else None

    def begin_night(self, build: dict[str, str], plan: dict[str, Any], models: list[Model]) -> tuple[int, bool]:
        """The night that was killed under the same build and plan, or a new one; whether it goes on."""
        text = json.dumps(plan, sort_keys=True)
        with self.change() as db:
            names = ", ".join(build)
            marks = ", ".join("?" for _ in build)
            db.execute(f"INSERT OR IGNORE INTO build ({names}) VALUES ({marks})", tuple(build.values()))
            where = " AND ".join(f"{name} = ?" for name in build)
            build_id = db.execute(f"SELECT id FROM build WHERE {where}", tuple(build.values())).fetchone()["id"]
            open_night = self.unfinished_night()
            if open_night and open_night["build_id"] == build_id and open_night["plan"] == text:
                night, goes_on = int(open_night["id"]), True
                db.execute("DELETE FROM night_model WHERE night_id = ?", (night,))  # a file may be another since then
            else:
                db.execute("UPDATE night SET ended = ?, abandoned = 1 WHERE ended IS NULL", (now(),))
                added = db.execute(
                    "INSERT INTO night (build_id, plan, started) VALUES (?, ?, ?)", (build_id, text, now())
                )
                night, goes_on = int(added.lastrowid or 0), False
            for model in models:
                db.execute(
                    "INSERT INTO model (digest, path) VALUES (?, ?) "
                    "ON CONFLICT (digest) DO UPDATE SET path = excluded.path",
                    (model.digest, model.shown),
                )
                db.execute(
                    "INSERT OR REPLACE INTO night_model SELECT ?, id, ? FROM model WHERE digest = ?",
                    (night, model.shown, model.digest),
                )
        return night, goes_on

    def end_night(self, night: int, states: dict[int, tuple[State, Evidence]]) -> None:
        with self.change() as db:
            for bug, (state, evidence) in states.items():
                db.execute(
                    "INSERT OR REPLACE INTO bug_night VALUES (?, ?, ?, ?, ?, ?)",
                    (bug, night, state.standing, state.clean_nights, state.shown, evidence),
                )
            db.execute("UPDATE night SET ended = ? WHERE id = ?", (now(), night))

    # Observations

    def observe(self, night: int, subject: str, variant: str, attempt: int, seen: dict[str, Any]) -> None:
        with self.change() as db:
            db.execute(
                "INSERT OR IGNORE INTO observation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (night, subject, variant, attempt, seen["outcome"], seen.get("signature", ""), seen.get("message", ""),
                 json.dumps(seen.get("numbers")), seen.get("seconds", 0.0), now()),
            )  # fmt: skip

    def call_unreadable(self, night: int, model: int, why: str) -> None:
        with self.change() as db:
            db.execute("INSERT OR IGNORE INTO unreadable VALUES (?, ?, ?)", (night, model, why))

    def observations(self, night: int, subject: str, variant: str) -> list[Row]:
        return self.rows(
            "SELECT * FROM observation WHERE night_id = ? AND subject = ? AND variant = ? ORDER BY attempt",
            night, subject, variant,
        )  # fmt: skip

    # Bugs

    def bug_of(self, key: Key) -> int | None:
        """The first of this key. What was split from it has a key of its own; keys are made anew of their parts, as
        what is one bug may have been told otherwise by the program that wrote them."""
        for bug in self.rows("SELECT id, parts FROM bug WHERE variant = ? AND instr(key, '+') = 0 ORDER BY id",
                             key.backend):  # fmt: skip
            if Key.from_dict(json.loads(bug["parts"])).is_one_bug_with(key):
                return int(bug["id"])
        return None

    def bugs(self) -> list[Row]:
        return self.rows("SELECT * FROM bug ORDER BY id")

    def keys(self) -> dict[int, Key]:
        return {bug["id"]: Key.from_dict(json.loads(bug["parts"])) for bug in self.bugs()}

    def model_id(self, digest: str) -> int:
        row = self.one("SELECT id FROM model WHERE digest = ?", digest)
        assert row
        return int(row["id"])

    def add_reduction(self, night: int, model: int, variant: str, seconds: float, message: str,
                      key: Key | None = None, artefact: str | None = None) -> int | None:  # fmt: skip
        """Adds what came of reducing a model; with a key, also a sighting of the bug that has it, old or new."""
        with self.change() as db:
            bug = None
            if key and artefact:
                found = self.bug_of(key)
                if found is None:
                    row = (key.backend, key.text, json.dumps(key.as_dict()), artefact, night)
                    added = db.execute(
                        "INSERT INTO bug (variant, key, parts, artefact, first_night) VALUES (?, ?, ?, ?, ?)", row
                    )
                    found = int(added.lastrowid or 0)
                bug = bug_for(self, found, model)
                db.execute("INSERT OR IGNORE INTO sighting VALUES (?, ?, ?, 'reduced to it', 0)", (bug, model, night))
            db.execute(
                "INSERT OR REPLACE INTO reduction VALUES (?, ?, ?, ?, ?, ?, ?)",
                (night, model, variant, bug, artefact, message, seconds),
            )
        return bug

    def add_sighting(self, bug: int, model: int, night: int, evidence: str) -> None:
        with self.change() as db:
            db.execute("INSERT OR IGNORE INTO sighting VALUES (?, ?, ?, ?, 0)", (bug, model, night, evidence))

    def state_before(self, bug: int, night: int) -> State:
        row = self.one(
            "SELECT * FROM bug_night WHERE bug_id = ? AND night_id < ? ORDER BY night_id DESC LIMIT 1", bug, night
        )
        return State(Standing(row["standing"]), row["clean_nights"], Shown(row["shown"])) if row else State()

    # Artefacts

    def artefact_folder(self, digest: str) -> Path:
        return self.folder / "artefacts" / digest

    def keep(self, folder: Path) -> str:
        """Copies a repro's folder into the store, under the digest of its content; once."""
        files = sorted(
            file for file in folder.rglob("*") if file.is_file() and file.name not in ARTEFACT_FILES_LEFT_OUT
        )
        digest = hashlib.sha256()
        size = 0
        for file in files:
            content = file.read_bytes()
            size += len(content)
            digest.update(f"{file.relative_to(folder)}\0{len(content)}\0".encode() + content)
        name = digest.hexdigest()[:32]
        target = self.artefact_folder(name)
        if not target.is_dir():
            partial = target.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            try:
                for file in files:
                    copy = partial / file.relative_to(folder)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, copy)
                os.replace(partial, target)
            except OSError as error:
                shutil.rmtree(partial, ignore_errors=True)
                raise TriageError(f"{target}: cannot be written ({error.strerror}); make room and run again, "
                                  "what was answered so far is kept") from error  # fmt: skip
        with self.change() as db:
            db.execute("INSERT OR IGNORE INTO artefact VALUES (?, ?)", (name, size))
        return name


def sentence_of(error: sqlite3.Error, file: Path) -> TriageError:
    code = getattr(error, "sqlite_errorname", "")
    what = {
        "SQLITE_FULL": "the disk is full; make room and run again, what was answered so far is kept",
        "SQLITE_BUSY": "another process is writing to it; try again when it has ended",
        "SQLITE_READONLY": "it cannot be written; check whose file it is",
        "SQLITE_NOTADB": "this is no SQLite file; name another folder with --store",
        "SQLITE_CORRUPT": "it is damaged; restore it from a copy",
    }.get("_".join(code.split("_")[:2]), str(error))  # SQLITE_READONLY_DIRECTORY is one of them
    return TriageError(f"{file}: {what}")


def no_store(folder: Path) -> TriageError:
    return TriageError(f"{folder}: no store there; `repro-minify-triage run MODELS --store {folder}` makes one")


@contextlib.contextmanager
def only_run(folder: Path, create: bool = False) -> Iterator[None]:
    """Refuses a second run into the same store. The lock is the kernel's: it goes with the process."""
    if not create and not folder.is_dir():
        raise no_store(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        opened = (folder / "lock").open("w")
    except OSError as error:
        raise TriageError(f"{folder}: cannot be written ({error.strerror}); name another with --store") from error
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TriageError(
                f"{folder}: another run is writing to this store; wait for its end, or use another --store"
            ) from None
        yield
