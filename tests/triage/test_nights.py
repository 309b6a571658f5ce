"""Nights in a row, through the real command line, over a program that fails as it is told."""

import os
from pathlib import Path

import pytest
from repro_minify_triage.command_line import program_path
from conftest import Site, states


def three_models(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.add_model("two", freeze="A", jit="B")
    site.add_model("clean")


def test_one_bug_once_however_many_models_show_it(site: Site) -> None:
    three_models(site)
    report = site.night(code=1)
    assert states(report) == {1: "new", 2: "new"}
    models = {bug["backend"]: bug["models"] for bug in report["bugs"]}
    assert models == {"freeze": 2, "jit": 1}
    assert states(site.night(code=0)) == {1: "known", 2: "known"}


def test_a_second_night_reduces_nothing_that_is_known(site: Site) -> None:
    three_models(site)
    site.night()
    assert "to reduce: 0" in site.call(*site.night_words()).stdout


def test_fixed_after_two_nights_and_regressed_under_its_old_number(site: Site) -> None:
    three_models(site)
    site.night()
    number = next(bug["id"] for bug in site.report()["bugs"] if bug["backend"] == "freeze")
    site.world(mended=["A"])
    assert states(site.night())[number] == "known"
    assert states(site.night())[number] == "fixed"
    site.world()
    assert states(site.night(code=1))[number] == "regressed"
    assert states(site.night(code=0))[number] == "known"


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_what_passes_for_the_first_night_is_told_from_what_still_fails(site: Site) -> None:
    """One bug is mended in the second night, another by the third night's build: only the first is fixed by then."""
    three_models(site)
    site.add_model("three", freeze="C")
    numbers = {bug["parts"]["essence"]: bug["id"] for bug in site.night()["bugs"]}
    site.world(mended=["A"])
    site.night()
    site.world(mended=["A", "B"])
    said = site.call(*site.night_words(), code=0).stdout
    bugs = {bug["id"]: bug for bug in site.report()["bugs"]}
    found = {name: (bugs[number]["state"], bugs[number]["outlook"]) for name, number in numbers.items()}
    more = "passes tonight; fixed if it passes in 1 more night"
    assert found == {"A": ("fixed", ""), "B": ("known", more), "C": ("known", "")}
    assert "2 known (1 of them clean tonight)" in said
    lines = {int(line.split()[0]): line for line in site.call("list", "--store", str(site.store)).stdout.splitlines()}
    assert "known, passes" in lines[numbers["B"]] and "passes" not in lines[numbers["C"]]
    assert more in site.call("show", str(numbers["B"]), "--store", str(site.store)).stdout
    site.mark(str(numbers["B"]), "--not-a-bug", "by design")
    assert [bug["outlook"] for bug in site.report()["bugs"]] == ["", "", ""]


def test_a_build_that_failed_is_no_fix(site: Site) -> None:
    three_models(site)
    site.night()
    site.world(broken=["freeze"])
    for _ in range(3):
        report = site.night(code=3)
        assert {bug["backend"]: bug["state"] for bug in report["bugs"]} == {"freeze": "no answer", "jit": "known"}
    assert {row["backend"] for row in report["no_answer"]} == {"freeze"}
    assert "its build is broken" in report["no_answer"][0]["why"]


def test_the_reduced_is_mended_and_an_original_is_not(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.night()
    site.world(mended_reduced=["A"], changed={"A": "A_deeper"})
    report = site.night(code=1)
    assert states(report) == {1: "no answer", 2: "new"}  # a second bug, and no fix of the first
    site.night()
    assert states(site.night())[1] != "fixed"


def test_a_model_that_was_removed_is_no_fix(site: Site) -> None:
    gone = site.add_model("one", freeze="A")
    site.add_model("other")
    site.night()
    gone.unlink()
    site.world(mended=["A"])
    for _ in range(3):
        assert states(site.night()) == {1: "no answer"}


def test_a_renamed_model_is_the_same_under_its_new_name(site: Site) -> None:
    old = site.add_model("one", freeze="A")
    site.night(code=1)
    old.rename(old.with_name("renamed.pt"))
    site.add_model("one", jit="B")  # another model takes its old name
    report = site.night(code=1)
    assert states(report) == {1: "known", 2: "new"}
    names = [name.rsplit("/", 1)[1] for name in report["matrix"]["models"]]
    cells = dict(zip(names, report["matrix"]["tonight"]))
    assert cells == {"one.pt": ["pass", "fail"], "renamed.pt": ["fail", "pass"]}
    assert {sighting["model"].rsplit("/", 1)[1] for sighting in report["bugs"][1]["sightings"]} == {"renamed.pt"}


def test_names_that_would_write_lines_of_their_own_stay_names(site: Site) -> None:
    hostile = ["a\nbug 7, fixed", "\x1b[2Jgone", "\u202edesrever", "no utf-8 \udcff"]
    for name in hostile:
        site.add_model(name, freeze="A" if name != hostile[0] else "B")
    said = site.call(*site.night_words(), code=1).stdout
    for text in (said, *(site.call(*words, "--store", str(site.store)).stdout for words in (["list"], ["show", "1"]))):
        assert "\x1b" not in text and "\u202e" not in text
        assert not any(line.startswith("bug 7") for line in text.splitlines())
    assert len(site.report()["matrix"]["models"]) == len(hostile)
    markdown = site.folder / "r.md"
    site.call("report", "--store", str(site.store), "--markdown", str(markdown), "--html", str(site.folder / "r.html"))
    assert "\u202e" not in markdown.read_text()


def test_a_changed_model_is_another_model(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.night()
    site.add_model("one", jit="B")  # under the same name
    site.world(mended=["A"])
    for _ in range(3):
        report = site.night()
    assert states(report)[1] == "no answer"


def test_what_dies_without_a_word_gives_no_answer(site: Site) -> None:
    three_models(site)
    site.night()
    site.world(lost=["models/one", "models/two"], mended=["A", "B"])
    report = site.night(code=3)
    assert set(states(report).values()) == {"no answer"}
    assert len(report["no_answer"]) == 4


def test_a_flake_opens_no_bug_and_is_reported_apart(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.world(flaky=["A"])
    report = site.night(code=0)
    assert report["bugs"] == []
    assert [(row["backend"], row["failed"], row["runs"]) for row in report["flaky"]] == [("freeze", 2, 3)]


def test_what_the_budget_left_out_is_said_and_comes_first(site: Site) -> None:
    three_models(site)
    site.options = ["--budget", "0s"]
    report = site.night(code=3)  # what fails is explained by no bug
    assert len(report["left_out"]) == 3 and report["bugs"] == []
    site.options = []
    assert len(site.night()["bugs"]) == 2


def test_two_runs_into_one_store_are_refused(site: Site) -> None:
    import subprocess

    three_models(site)
    site.world(seconds=1)
    with subprocess.Popen(site.command(*site.night_words()), env=site.environment(), stdout=subprocess.PIPE) as first:
        assert first.stdout
        first.stdout.readline()  # it has begun
        second = site.call(*site.night_words(), code=2)
        first.kill()
    assert "another run is writing to this store" in second.stderr


def test_exported_programs_are_models_too(site: Site) -> None:
    site.add_model("one", freeze="fault").rename(site.models / "one.pt2")
    site.add_model("two").rename(site.models / "two.ptl")
    (site.models / "notes.txt").write_text("no model")
    report = site.night(code=1)
    assert [Path(sighting["model"]).name for sighting in report["bugs"][0]["sightings"]] == ["one.pt2"]
    site.call("run", str(site.models / "*.pt2"), "--backend", "freeze", "--store", str(site.folder / "other"), code=1)


def test_usage(site: Site, tmp_path: Path) -> None:
    config = tmp_path / "triage.toml"
    config.write_text("jobs = -1\n")
    os.mkfifo(tmp_path / "pipe.pt")  # is no model, and is not waited for
    (tmp_path / "nowhere.pt").symlink_to("gone.pt")
    for words, part in [
        (["run", "nowhere", "--backend", "jit"], "nowhere: no model there"),
        (["run", str(tmp_path)], "--backend: none given"),
        (["report", "--store", str(tmp_path / "none")], "no store there"),
        (["run", str(tmp_path), "--backend", "jit", "--program", "/no/such"], "/no/such: no such program"),
        (["run", str(tmp_path), "--backend", "inductr"], "no such backend; did you mean inductor?"),
        (["run", str(tmp_path), "--backend", "jit 'x"], "a quotation mark that is not closed"),
        (["run", str(tmp_path), "--backend", "jit", "--config", str(config)], "jobs = -1: has to be 1 or more"),
        (["run", str(tmp_path / "*.pt"), "--backend", "jit"], "*.pt: no model there"),
        (["run", str(tmp_path), "--backend", "jit", "--option=--tiemout=3"], "(--tiemout=3): not expected"),
        (["run", str(tmp_path), "--bakend", "jit"], "No such option: --bakend"),
        (["rnu", str(tmp_path)], "No such command 'rnu'"),
        (["show", "first"], "integer"),
        (["list", "--state", "gone"], "--state gone: no such state; give one of new, known,"),
    ]:
        done = site.call(*words, code=2)
        assert part in done.stderr and "Traceback" not in done.stderr


def test_the_program_of_an_environment_that_is_not_activated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "repro-minify"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.delenv("REPRO_MINIFY_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert program_path(None) == str(program.resolve())


def test_the_variable_that_names_a_wrong_program_is_named(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_model("one")
    monkeypatch.setattr(Site, "environment", lambda site: {**os.environ, "REPRO_MINIFY_PROGRAM": "/no/such"})
    assert "REPRO_MINIFY_PROGRAM=/no/such: no such program" in site.call(*site.night_words(), code=2).stderr
