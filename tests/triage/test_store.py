"""Killed at any moment the next start goes on and the end is the same; other trouble is a sentence."""

import contextlib
import gc
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Site, states
from repro_minify_triage import command_line
from repro_minify_triage.errors import TriageError
from repro_minify_triage.store import Store, migrations, only_run

KILLS = 5


def lasting(report: dict[str, Any]) -> Any:
    """Returns what of a report does not depend on when and in which order it was found."""
    bugs = []
    for bug in report["bugs"]:
        models = sorted({sighting["model"].rsplit("/", 1)[1] for sighting in bug["sightings"]})
        bugs.append((bug["backend"], bug["parts"]["canonical"], bug["state"], models))
    checks = [night["checks"] for night in report["nights"]]
    return sorted(bugs), checks, len(report["no_answer"]), [night["id"] for night in report["nights"]]


def many_models(site: Site) -> None:
    for index in range(10):
        site.add_model(f"m{index}", freeze="ABC"[index % 3], **({"jit": "D"} if index % 2 else {}))


def night_has_ended(site: Site) -> bool:
    found = answer_of(site, "SELECT ended FROM night ORDER BY id DESC")
    return bool(found and found[0])


def answer_of(site: Site, query: str) -> Any:
    """The first row; none while there is no table yet."""
    file = site.store / "triage.sqlite"
    if not file.exists():
        return None
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(file)) as db:
        return db.execute(query).fetchone()
    return None


def answers_in(site: Site) -> int:
    found = answer_of(site, "SELECT count(*) FROM observation")
    return found[0] if found else 0


def killed_at(site: Site, answers: int, later: float) -> bool:
    """A moment after there are so many answers; false where it came to an end before."""
    words, environment = site.command(*site.night_words()), site.environment()
    with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None and answers_in(site) < answers:
            time.sleep(0.02)
        time.sleep(later)
        run.kill()
    assert run.returncode in (-signal.SIGKILL, 1)
    return not night_has_ended(site)


def test_killed_at_any_moment_the_end_is_the_same(site: Site) -> None:
    """Five times in one night: before there is a store, and up to where its last reductions are made."""
    many_models(site)
    site.world(seconds=0.02)
    report = site.night(code=1)
    expected, most = lasting(report), report["nights"][0]["checks"]
    shutil.rmtree(site.store)
    rng, kills = random.Random(17), 0
    while kills < KILLS:
        if killed_at(site, most * kills // (KILLS - 1), rng.uniform(0, 0.2)):
            kills += 1
        else:  # what would start now is the next night
            shutil.rmtree(site.store)
    assert lasting(site.night(code=1)) == expected
    assert answer_of(site, "PRAGMA integrity_check") == ("ok",)


def killed_once_a_bug_is_found(site: Site) -> None:
    site.options = ["--jobs", "1"]
    site.world(seconds=0.1)
    with subprocess.Popen(site.command(*site.night_words()), env=site.environment(), stdout=subprocess.DEVNULL) as run:
        while run.poll() is None:
            time.sleep(0.01)
            if answer_of(site, "SELECT 1 FROM bug"):
                break
        run.kill()


def test_what_a_killed_night_found_is_not_checked_as_known(site: Site) -> None:
    many_models(site)
    expected = lasting(site.night(code=1))
    shutil.rmtree(site.store)
    killed_once_a_bug_is_found(site)
    assert lasting(site.night(code=1)) == expected


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_what_an_abandoned_night_found_has_a_state(site: Site) -> None:
    many_models(site)
    killed_once_a_bug_is_found(site)
    with Store(site.store) as store:
        found = store.bugs()
    site.world(mended=["A", "B", "C", "D"])
    site.options = ["--jobs", "1", "--runs", "4"]  # another plan: the night before is given up
    assert set(states(site.night(code=0)).values()) == {"known"}
    assert len(found) == len(site.night(code=0)["bugs"]) and set(states(site.report()).values()) == {"fixed"}


def test_a_bug_keeps_its_number_where_its_key_was_made_otherwise(site: Site) -> None:
    """The key was made by a program that told bugs apart in another way."""
    site.add_model("one", freeze="A")
    site.night(code=1)
    with Store(site.store) as store, store.change() as db:
        db.execute("UPDATE bug SET key = 'as it was before'")
    site.add_model("two", freeze="A")
    assert states(site.night(code=0)) == {1: "known"}


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("triage.sqlite*") if not file.name.endswith("-shm")}


@pytest.mark.parametrize("is_in_log", [False, True])
def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path, is_in_log: bool) -> None:
    """Where its log has not been written back too, as after a run that was killed."""
    made, folder = tmp_path / "made", tmp_path / "store"
    with Store(made, create=True) as newer:
        newer.db.execute("PRAGMA user_version = 99")
        if is_in_log:
            shutil.copytree(made, folder)
    if not is_in_log:
        made.rename(folder)
    before = contents(folder)
    assert ("triage.sqlite-wal" in before) == is_in_log
    for _ in range(2):
        with pytest.raises(TriageError, match="schema version 99"):
            Store(folder)
        gc.collect()
        assert contents(folder) == before


def test_a_store_is_closed_where_it_was_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python closes what it collects, at a time of its own; here nothing is left to it."""
    site.add_model("one", freeze="A")
    site.night(code=1)
    opened: list[sqlite3.Connection] = []
    usual = sqlite3.connect

    def connect(*words: Any, **named: Any) -> sqlite3.Connection:
        opened.append(usual(*words, **named))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", connect)
    store = str(site.store)
    for words in (["list"], ["show", "1"], ["mark", "1", "--note", "x"], ["report"], ["prune", "--keep-nights", "9"],
                  ["versions", "1", "--python", sys.executable]):  # fmt: skip
        monkeypatch.setattr(sys, "argv", ["triage", *words, "--store", store])
        with pytest.raises(SystemExit):
            command_line.main()
        assert opened
        for connection in opened:
            with pytest.raises(sqlite3.ProgrammingError, match="closed"):
                connection.execute("SELECT 1")
        opened.clear()


def test_a_store_that_cannot_be_written_is_looked_at(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_model("one", freeze="A")
    site.night(code=1)
    before = sorted(file.name for file in site.store.iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with Store(site.store) as store:
        assert [bug["id"] for bug in store.bugs()] == [1]
        with pytest.raises(TriageError, match="it cannot be written"), store.change() as db:
            db.execute("DELETE FROM bug")
    assert sorted(file.name for file in site.store.iterdir()) == before


def test_an_older_store_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "triage.sqlite")) as older:
        older.executescript(f"{migrations()[0]}; PRAGMA user_version = 1;")
    before = contents(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with Store(tmp_path) as store:
        assert store.rows("SELECT * FROM unreadable") == []
        with pytest.raises(TriageError, match="it cannot be written"), store.change() as db:
            db.execute("DELETE FROM bug")
    assert contents(tmp_path) == before


def test_where_nothing_can_be_made_there_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TriageError, match="cannot be written"), only_run(tmp_path / "file" / "store", create=True):
        pass
    with pytest.raises(TriageError, match="no store there"), only_run(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()


def test_each_migration_leads_to_its_number(tmp_path: Path) -> None:
    with Store(tmp_path, create=True) as store:
        assert store.db.execute("PRAGMA user_version").fetchone()[0] == len(migrations())


def test_what_is_no_store_is_said(tmp_path: Path) -> None:
    (tmp_path / "triage.sqlite").write_text("this is a text, and a long one, of more than one hundred bytes" * 9)
    with pytest.raises(TriageError, match="no SQLite file"):
        Store(tmp_path)


def test_a_full_disk_is_a_sentence_and_loses_nothing(tmp_path: Path) -> None:
    with Store(tmp_path, create=True) as store:
        pages = store.db.execute("PRAGMA page_count").fetchone()[0]
        store.db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(TriageError, match="disk is full"), store.change() as db:
            for number in range(10_000):
                db.execute("INSERT INTO artefact VALUES (?, ?)", (f"{number:064}", number))
        assert store.rows("SELECT * FROM artefact") == []
        assert store.one("PRAGMA integrity_check")[0] == "ok"  # type: ignore[index]


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_a_model_that_vanishes_during_the_night_gives_no_answer(site: Site) -> None:
    many_models(site)
    site.world(seconds=0.3)
    site.options = ["--jobs", "1"]
    with subprocess.Popen(
        site.command(*site.night_words()), env=site.environment(), stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout
        while not run.stdout.readline().startswith("models:"):
            pass
        (site.models / "m9.pt").unlink()
        run.communicate()
    assert run.returncode == 1  # the others' bugs are new
    assert [row["model"].rsplit("/", 1)[1] for row in site.report()["no_answer"]] == ["m9.pt", "m9.pt"]
