"""`report --since`: what became of bugs since then; and models that cannot be read."""

import json
from typing import Any

import pytest
from conftest import Site, states


def report_since(site: Site, since: str, code: int) -> dict[str, Any]:
    file = site.folder / "since.json"
    site.call("report", "--store", str(site.store), "--json", str(file), "--since", since, code=code)
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_what_became_of_bugs_since_a_night(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.add_model("two", freeze="B")
    site.night(code=1)
    site.add_model("three", freeze="C")
    site.world(mended=["A"])
    site.night(code=1)
    site.night(code=0)
    names = {bug["parts"]["essence"]: bug["id"] for bug in site.report()["bugs"]}
    a, b, c = (names[name] for name in "ABC")
    assert states(site.report()) == {a: "fixed", b: "known", c: "known"}
    assert states(report_since(site, "2", code=1)) == {a: "fixed", b: "known", c: "new"}
    assert states(report_since(site, "1", code=1)) == {a: "fixed", b: "new", c: "new"}
    site.night(code=0)
    assert states(report_since(site, "3", code=0)) == {a: "fixed", b: "known", c: "known"}
    site.night(code=0)
    found = report_since(site, "4", code=0)
    assert states(found) == {b: "known", c: "known"}  # fixed before, and still
    assert [night["id"] for night in found["nights"]] == [4, 5] and found["since"] == 4
    assert len(report_since(site, "1d", code=1)["nights"]) == 5
    for since, part in (("6", "no night since then"), ("soon", "not a time"), ("9999-01-01", "no night since then")):
        assert part in site.call("report", "--store", str(site.store), "--since", since, code=2).stderr
    markdown = site.folder / "since.md"
    site.call("report", "--store", str(site.store), "--since", "2", "--markdown", str(markdown), code=1)
    assert "## Nights 2 to 5: 1 new bugs" in markdown.read_text()


def test_a_model_that_cannot_be_read_has_its_own_name_and_one_night_of_trouble(site: Site) -> None:
    bad = site.add_model("bad")
    site.add_model("good")
    site.world(unreadable=["models/bad"])
    for backends in ("freeze", "freeze,jit"):
        site.backends = backends
        report = site.night(code=3 if backends == "freeze" else 0)
        assert report["no_answer"] == []
        ((name, why),) = [(row["model"], row["why"]) for row in report["unreadable"]]
        assert name == str(bad) and why == "is empty"
    said = site.call(*site.night_words(), code=0).stdout
    assert "1 unreadable models" in said and "without an answer" not in said


def test_a_backend_that_is_broken_makes_no_model_unreadable(site: Site) -> None:
    site.add_model("good")
    site.backends = "freeze"
    site.world(broken=["freeze"])
    for _ in range(2):
        report = site.night(code=3)
        assert report["unreadable"] == [] and len(report["no_answer"]) == 1


def test_one_number_of_answers_that_are_missing(site: Site) -> None:
    """Bugs and checks are told apart: "0 without an answer" stood above "2 checks got no answer"."""
    site.add_model("one", freeze="A")
    site.world(lost=["models/one"])
    said = site.call(*site.night_words(), code=3).stdout
    assert "no bugs; 2 checks without an answer" in said
    markdown = site.folder / "r.md"
    site.call("report", "--store", str(site.store), "--markdown", str(markdown), code=3)
    text = markdown.read_text()
    assert "0 without an answer" not in text and "no answer for 2 pairs of model and backend" in text
    assert "0 whose state is not known tonight" in text
