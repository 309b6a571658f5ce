"""Tests of what a CI is told: each failure with its words, and what is known is not red for ever."""

import xml.etree.ElementTree as ElementTree
from typing import Any

from repro_minify_triage import junit

BUG = {"id": 3, "state": "new", "message": "wrong by 7", "parts": {"guilty": "FoldLinear"}, "first_night": 2,
       "models": 1, "repro": "/store/x", "program": "def forward(x): ...",
       "sightings": [{"model": "m.pt", "backend": "jit", "night": 2}]}  # fmt: skip


def facts(outcome: str, before: str = "pass", **more: Any) -> dict[str, Any]:
    matrix = {"models": ["m.pt"], "backends": ["jit"], "tonight": [[outcome]], "yesterday": [[before]],
              "seconds": [[1.25]], "bugs": [[[]]]}  # fmt: skip
    empty: dict[str, Any] = dict.fromkeys(("bugs", "no_answer", "not_reduced", "left_out", "unreadable", "failing"), [])
    return {**empty, "nights": [{"id": 1}, {"id": 2}], "matrix": matrix, **more}


def case_of(given: dict[str, Any], known: str = "skip") -> ElementTree.Element:
    (suite,) = ElementTree.fromstring(junit.as_junit(given, known))
    (case,) = suite.findall("testcase")
    return case


def results(case: ElementTree.Element) -> dict[str, tuple[str | None, str | None]]:
    return {each.tag: (each.get("type"), each.get("message")) for each in case if each.tag != "system-out"}


def test_a_new_bug_is_a_failure_with_all_that_is_known_of_it() -> None:
    case = case_of(facts("fail", bugs=[BUG]))
    assert results(case) == {"failure": ("new", "bug 3 (new): wrong by 7")}
    text = "".join(case.itertext())
    assert all(part in text for part in ("guilty step: FoldLinear", "repro: /store/x", "def forward(x): ..."))
    assert case.get("time") == "1.25"


def test_a_known_bug_is_skipped_with_the_same_words_or_fails_where_that_is_asked_for() -> None:
    for state in ("known", "not a bug", "duplicate of 1", "no answer"):
        given = facts("fail", "fail", bugs=[BUG | {"state": state}])
        assert results(case_of(given)) == {"skipped": ("known", f"bug 3 ({state}): wrong by 7")}
        assert "FoldLinear" in (case_of(given).findtext("system-out") or "")
        assert list(results(case_of(given, "fail"))) == ["failure"]


def test_one_new_bug_among_known_ones_is_a_failure() -> None:
    known = BUG | {"id": 1, "state": "known"}
    regressed = BUG | {"state": "regressed"}
    found = results(case_of(facts("fail", bugs=[known, regressed])))
    assert found == {"failure": ("regressed", "bug 1 (known): wrong by 7; bug 3 (regressed): wrong by 7")}


def test_what_has_no_bug_is_a_failure_in_its_first_night() -> None:
    row = {"model": "m.pt", "backend": "jit"}
    more = {"not_reduced": [row | {"why": "not reduced: late"}], "failing": [row | {"message": "wrong by 7"}]}
    words = "wrong by 7 (not reduced: late)"
    assert results(case_of(facts("fail", "pass", **more))) == {"failure": ("new", words)}
    assert results(case_of(facts("fail", "", **more))) == {"failure": ("new", words)}
    assert results(case_of(facts("fail", "fail", **more))) == {"skipped": ("known", words)}


def test_what_cannot_be_read_is_an_error_in_its_first_night() -> None:
    for is_new, tag in ((True, "error"), (False, "skipped")):
        row = {"model": "m.pt", "why": "m.pt: is empty", "is_new": is_new}
        found = results(case_of(facts("unreadable", unreadable=[row])))
        assert found == {tag: ("unreadable", "cannot be read: m.pt: is empty")}


def test_the_rest() -> None:
    assert results(case_of(facts("pass"))) == {}
    assert list(results(case_of(facts("flaky")))) == ["skipped"]
    lost = [{"model": "m.pt", "backend": "jit", "why": "no answer within 9 s"}]
    assert results(case_of(facts("no answer", no_answer=lost))) == {"error": ("no answer", "no answer within 9 s")}
    (suite,) = ElementTree.fromstring(junit.as_junit(facts("")))
    assert suite.findall("testcase") == []  # the model was not asked
