"""Tests that the decisions of people stand above what the program thinks, and stick."""

from conftest import Site, states


def test_a_mark_sticks(site: Site) -> None:
    site.add_model("one", freeze="A", jit="B")
    site.night(code=1)
    site.mark("1", "--not-a-bug", "by design")
    site.mark("2", "--duplicate-of", "1")
    site.mark("2", "--note", "see #12")
    for _ in range(2):
        report = site.night(code=0)
        assert states(report) == {1: "not a bug", 2: "duplicate of 1"}
    assert report["bugs"][1]["notes"] == ["see #12"] or report["bugs"][0]["notes"] == ["see #12"]


def test_duplicates_in_a_circle_are_refused(site: Site) -> None:
    site.add_model("one", freeze="A", jit="B")
    site.night()
    site.mark("1", "--duplicate-of", "2")
    assert "itself a duplicate" in site.mark("2", "--duplicate-of", "1", code=2).stderr
    assert "the bug itself" in site.mark("2", "--duplicate-of", "2", code=2).stderr


def test_a_split_model_keeps_a_number_of_its_own(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.add_model("two", freeze="A")
    site.night()
    assert site.mark("1", "--split", "two.pt").stdout == "bug 2\n"
    for _ in range(2):
        report = site.night()
        shown = {bug["id"]: sorted({s["model"].rsplit("/", 1)[1] for s in bug["sightings"]}) for bug in report["bugs"]}
        assert shown == {1: ["one.pt"], 2: ["two.pt"]}
    site.add_model("three", freeze="A")
    assert len(site.night()["bugs"]) == 2


def test_a_split_model_is_named_letter_by_letter(site: Site) -> None:
    for name in ("a_b", "axb", "100%"):
        site.add_model(name, freeze="A")
    site.night()
    assert site.mark("1", "--split", "a_b.pt").stdout == "bug 2\n"
    assert site.mark("1", "--split", "100%.pt").stdout == "bug 3\n"
    assert "no model of that name" in site.mark("1", "--split", "%.pt", code=2).stderr


def test_what_cannot_be_marked(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.night()
    for words in (["7", "--note", "x"], ["1", "--duplicate-of", "9"], ["1", "--split", "one.pt"], ["1"]):
        assert site.mark(*words, code=2).stderr.startswith("error: ")
