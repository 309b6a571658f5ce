"""--on-new: a command that is told of new bugs, and never reads them as a command line."""

import json
import sys
from pathlib import Path

import pytest
from conftest import Site
from repro_minify_triage.errors import TriageError
from repro_minify_triage.on_new import command_of

HOSTILE = "A$(touch owned)`touch owned`; touch owned #"
# Writes a line for each call: what its environment and its standard input say, in one JSON object.
TOLD = """
import json, os, sys
bug = json.load(sys.stdin)
row = {name: value for name, value in os.environ.items() if name.startswith("TRIAGE_")}
open(sys.argv[1], "a").write(json.dumps([row, bug, sys.argv[2:]]) + "\\n")
sys.exit(int(open(sys.argv[1] + ".code").read()))
"""


@pytest.fixture
def told(site: Site) -> Path:
    """Where the command writes; the file beside it says with which code it ends."""
    (site.folder / "hook.py").write_text(TOLD)
    file: Path = site.folder / "told"
    file.with_name("told.code").write_text("0")
    site.options = ["--on-new", f"{sys.executable} {site.folder / 'hook.py'} {file} '$TRIAGE_MESSAGE'"]
    return file


def rows(file: Path) -> list[tuple[dict[str, str], dict[str, object], list[str]]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_each_new_bug_is_told_once_with_its_facts(site: Site, told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site.folder)
    site.add_model("one", freeze=HOSTILE)
    site.call(*site.night_words(), code=1)
    site.call(*site.night_words(), code=0)
    ((environment, bug, words),) = rows(told)
    assert words == ["$TRIAGE_MESSAGE"]  # no shell has read it
    assert environment["TRIAGE_MESSAGE"] == bug["message"] == f"wrong by {HOSTILE}"
    said = {name: environment[f"TRIAGE_{name}"] for name in ("BUG", "STATE", "NIGHT", "BACKEND", "STEP", "MODELS")}
    assert said == {"BUG": "1", "STATE": "new", "NIGHT": "1", "BACKEND": "freeze", "STEP": "StepA", "MODELS": "1"}
    assert Path(environment["TRIAGE_REPRO"], "report.json").is_file()
    assert not (site.folder / "owned").exists()


def test_a_command_that_fails_is_said_and_told_again(site: Site, told: Path) -> None:
    told.with_name("told.code").write_text("9")
    site.add_model("one", freeze="A")
    assert "--on-new: bug 1: exit code 9" in site.call(*site.night_words(), code=1).stdout
    assert "--on-new: bug 1: exit code 9" in site.call(*site.night_words(), code=0).stdout
    tries = len(rows(told))
    assert tries > 1
    told.with_name("told.code").write_text("0")
    site.call(*site.night_words(), code=0)
    site.call(*site.night_words(), code=0)
    last = rows(told)[tries:]
    assert [(environment["TRIAGE_BUG"], environment["TRIAGE_STATE"]) for environment, _, _ in last] == [("1", "new")]


def test_a_command_that_is_not_there_costs_no_night() -> None:
    for text, part in (("/no/such x", "no such program"), ("sh 'x", "a quotation mark"), ("", "no such program")):
        with pytest.raises(TriageError, match=part):
            command_of(text)
