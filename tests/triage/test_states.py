"""The table of states, row by row, and the evidence that feeds it."""

import itertools

import pytest
from repro_minify_triage.states import (
    CLEAN_RUNS,
    TABLE,
    Answers,
    Evidence,
    Shown,
    Standing,
    State,
    evidence_of,
    next_state,
    outlook,
)

FAILS, RIGHT, SILENT = Answers(failed=1), Answers(passed=CLEAN_RUNS), Answers(unanswered=1)


@pytest.mark.parametrize(
    ("reduced", "originals", "sighted", "expected"),
    [
        (FAILS, [FAILS], True, Evidence.SEEN),
        (FAILS, [RIGHT], False, Evidence.SEEN),
        (RIGHT, [FAILS], True, Evidence.SEEN),
        (RIGHT, [RIGHT, RIGHT], False, Evidence.CLEAN),
        (RIGHT, [RIGHT, FAILS], False, Evidence.NO_ANSWER),  # the reduced is mended, an original is not: no fix
        (RIGHT, [RIGHT, SILENT], False, Evidence.NO_ANSWER),  # a model that was removed is no fix
        (SILENT, [RIGHT], False, Evidence.NO_ANSWER),  # nor is a build that failed
        (SILENT, [SILENT], False, Evidence.NO_ANSWER),
        (Answers(passed=CLEAN_RUNS - 1), [RIGHT], False, Evidence.NO_ANSWER),
        (RIGHT, [Answers(passed=CLEAN_RUNS - 1)], False, Evidence.NO_ANSWER),
        (Answers(passed=2, unanswered=1), [RIGHT], False, Evidence.NO_ANSWER),
        (Answers(failed=1, passed=2), [RIGHT], False, Evidence.FLAKY),
    ],
)
def test_evidence(reduced: Answers, originals: list[Answers], sighted: bool, expected: Evidence) -> None:
    assert evidence_of(reduced, originals, sighted) is expected


def test_every_row_that_can_be_met_is_there() -> None:
    assert set(TABLE) == set(itertools.product(Standing, Evidence))


def history(*evidence: Evidence) -> list[Shown]:
    state, shown = State(), []
    for each in evidence:
        state = next_state(state, each)
        shown.append(state.shown)
    return shown


S, C, N, F = Evidence.SEEN, Evidence.CLEAN, Evidence.NO_ANSWER, Evidence.FLAKY


def test_fixed_takes_two_clean_nights() -> None:
    assert history(S, C, C) == [Shown.NEW, Shown.KNOWN, Shown.FIXED]


def test_what_is_clean_for_the_first_night_is_not_said_to_fail() -> None:
    words, state = [], State()
    for each in (S, C, N, C, C, S):
        state = next_state(state, each)
        words.append(outlook(state, each))
    assert words == ["", "passes tonight; fixed if it passes in 1 more night", "", "", "", ""]


def test_what_was_never_shown_is_open_and_not_new() -> None:
    """Found in a night that was abandoned."""
    assert history(C, C) == [Shown.KNOWN, Shown.FIXED]
    assert history(N, S) == [Shown.NO_ANSWER, Shown.KNOWN]
    assert history(F, S) == [Shown.FLAKY, Shown.KNOWN]


def test_a_failure_between_two_clean_nights_starts_again() -> None:
    assert history(S, C, S, C) == [Shown.NEW, Shown.KNOWN, Shown.KNOWN, Shown.KNOWN]


def test_no_answer_is_never_fixed_and_hides_no_clean_night() -> None:
    assert history(S, N, N, N) == [Shown.NEW, *[Shown.NO_ANSWER] * 3]
    assert history(S, C, N, C)[-1] is Shown.FIXED


def test_a_flake_neither_opens_nor_closes() -> None:
    assert history(S, C, F, C) == [Shown.NEW, Shown.KNOWN, Shown.FLAKY, Shown.KNOWN]
    assert history(S, C, C, F, C)[-2:] == [Shown.FLAKY, Shown.FIXED]


def test_what_returns_has_regressed_even_after_silence() -> None:
    assert history(S, C, C, S) == [Shown.NEW, Shown.KNOWN, Shown.FIXED, Shown.REGRESSED]
    assert history(S, C, C, N, S)[-1] is Shown.REGRESSED
    assert history(S, C, C, S, S)[-1] is Shown.KNOWN
