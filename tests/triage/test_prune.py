"""Tests of what `prune` takes of old nights, and that nothing which triage decides by goes with it."""

from pathlib import Path
from typing import Any

import pytest
from conftest import Site, states
from repro_minify_triage.errors import TriageError
from repro_minify_triage.facts import unreadable_facts
from repro_minify_triage.identity import Key
from repro_minify_triage.models import Model
from repro_minify_triage.pruning import old_nights, prune
from repro_minify_triage.states import Evidence, Shown, Standing, State
from repro_minify_triage.store import Store

BUILD = dict.fromkeys(("tool", "program", "torch", "python", "compiler", "machine"), "x")
KEY = Key("jit", "accuracy", "Step", "", "return aten::a(%1)", "a")
FAILS: dict[str, Any] = {"outcome": "fail", "signature": "accuracy"}


def folder_of(store: Store, name: str) -> str:
    made = store.folder / "work" / name
    made.mkdir(parents=True)
    (made / "report.json").write_text(f'{{"name": "{name}"}}')
    return store.keep(made)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """Four nights. "stays" shows a bug in each, and was reduced in the first and the third; "gone" in the first."""
    with Store(tmp_path / "store", create=True) as made:
        for number in (1, 2, 3, 4):
            names = ["stays", "gone"] if number == 1 else ["stays"]
            night, _ = made.begin_night(BUILD, {}, [Model(Path(f"/{name}.pt"), name) for name in names])
            for name in names:
                made.observe(night, name, "jit", 1, FAILS)
                if number in (1, 3):
                    made.add_reduction(night, made.model_id(name), "jit", 1.0, "wrong", KEY,
                                       folder_of(made, f"{name}-{number}"))  # fmt: skip
            made.observe(night, "bug 1", "jit", 1, FAILS)
            made.end_night(night, {1: (State(Standing.OPEN, 0, Shown.KNOWN), Evidence.SEEN)})
        yield made


def rows_of(store: Store) -> dict[str, int]:
    tables = ("observation", "reduction", "night_model", "artefact", "bug", "sighting", "bug_night", "night", "pruned")
    return {name: len(store.rows(f"SELECT * FROM {name}")) for name in tables}


def test_which_nights_are_old(store: Store) -> None:
    assert old_nights(store, 3, None) == [1]
    assert old_nights(store, 1, None) == [1, 2]  # the last is reported, beside the one before it
    assert old_nights(store, None, 3600.0) == []
    assert old_nights(store, None, 0.0) == [1, 2]
    store.db.execute("UPDATE night SET ended = '2020-01-01' WHERE id = 1")
    assert old_nights(store, None, 3600.0) == [1]
    assert old_nights(store, 2, 3600.0) == [1]  # both have to hold
    with pytest.raises(TriageError, match="say what is old"):
        old_nights(store, None, None)


def test_to_look_changes_nothing_and_says_what_goes(store: Store) -> None:
    before, folders = rows_of(store), sorted((store.folder / "artefacts").iterdir())
    looked = prune(store, [1, 2], does_it=False)
    assert rows_of(store) == before and sorted((store.folder / "artefacts").iterdir()) == folders
    assert prune(store, [1, 2], does_it=True) == looked
    assert looked.nights == (1, 2) and looked.bytes > 0


def test_what_is_decided_by_stays(store: Store) -> None:
    first = store.bugs()[0]["artefact"]
    before = rows_of(store)
    gone = prune(store, [1, 2], does_it=True)
    after = rows_of(store)
    assert {name: after[name] for name in ("bug", "sighting", "bug_night", "night")} == {
        name: before[name] for name in ("bug", "sighting", "bug_night", "night")}  # fmt: skip
    # The reduction of night 1 is superseded by that of night 3, and a model that is gone is not checked again.
    assert [(row["night_id"], row["bug_id"]) for row in store.rows("SELECT * FROM reduction")] == [(3, 1)]
    assert {row["night_id"] for row in store.rows("SELECT * FROM observation")} == {3, 4}
    assert gone.answers == before["observation"] - after["observation"] == 5
    assert store.artefact_folder(first).is_dir()  # the bug's own program
    assert len(list((store.folder / "artefacts").iterdir())) == after["artefact"] == 2
    again = prune(store, [1, 2], does_it=True)
    assert (again.nights, again.answers, again.folders) == ((), 0, ())


def test_a_model_that_cannot_be_read_stays_known_and_has_the_path_of_its_night(tmp_path: Path) -> None:
    with Store(tmp_path / "store", create=True) as store:
        for number in (1, 2, 3, 4, 5):
            night, _ = store.begin_night(BUILD, {}, [Model(Path(f"/ci/{number}/bad.pt"), "bad")])
            if number in (1, 2, 4):
                store.call_unreadable(night, store.model_id("bad"), f"/ci/{number}/bad.pt: cut short")
            store.end_night(night, {})
        before = unreadable_facts(store, 4, 4)
        prune(store, [1, 2], does_it=True)
        assert unreadable_facts(store, 4, 4) == before
        assert before == [{"model": "/ci/4/bad.pt", "why": "cut short", "is_new": False}]


def test_the_newest_reduction_and_its_answers_stay_whatever_their_age(store: Store) -> None:
    prune(store, [1, 2, 3], does_it=True)
    assert [row["night_id"] for row in store.rows("SELECT * FROM reduction")] == [3]
    kept = [(row["night_id"], row["subject"]) for row in store.rows("SELECT * FROM observation ORDER BY 1, 2 DESC")]
    assert kept == [(3, "stays"), (4, "stays"), (4, "bug 1")]


def test_what_a_killed_run_had_begun_to_copy_goes_too(store: Store) -> None:
    partial = store.folder / "artefacts" / "0123.partial"
    partial.mkdir()
    assert partial in prune(store, [], does_it=True).folders
    assert not partial.exists()


def test_through_the_command_line_a_known_bug_stays_known(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.night(code=1)
    site.night(code=0)
    site.night(code=0)
    words = ["prune", "--keep-nights", "2", "--store", str(site.store)]
    assert "nothing was removed; --yes removes it" in site.call(*words, code=0).stdout
    checks = [night["checks"] for night in site.report()["nights"]]
    assert "removed: nights 1 to 1" in site.call(*words, "--yes", code=0).stdout
    report = site.report()
    assert [night["checks"] for night in report["nights"]] == checks
    assert [night["pruned"] for night in report["nights"]] == [True, False, False]
    assert "to reduce: 0" in site.call(*site.night_words(), code=0).stdout
    assert states(site.report()) == {1: "known"}
    assert "say what is old" in site.call("prune", "--store", str(site.store), code=2).stderr
