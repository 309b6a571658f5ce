"""The states of a bug, as one table.

A bug *stands* open or fixed; a night brings evidence; the table says how it stands afterwards and what is shown. What
people marked is shown instead, and stays (see marks.py).
"""

from dataclasses import dataclass
from enum import StrEnum

CLEAN_RUNS = 3  # of the reduced program and of every original, to count as right
CLEAN_NIGHTS = 2  # of which a fix consists


class Standing(StrEnum):
    NONE = "none"
    OPEN = "open"
    FIXED = "fixed"


class Evidence(StrEnum):
    SEEN = "seen"
    CLEAN = "clean"
    FLAKY = "flaky"
    NO_ANSWER = "no answer"


class Shown(StrEnum):
    NEW = "new"
    KNOWN = "known"
    REGRESSED = "regressed"
    FIXED = "fixed"
    FLAKY = "flaky"
    NO_ANSWER = "no answer"


@dataclass(frozen=True)
class Answers:
    """Counts the answers about one program under one build tonight."""

    failed: int = 0
    passed: int = 0
    unanswered: int = 0  # refused, crashed outside the check, a build that failed, a lost node, a file that is gone


def evidence_of(reduced: Answers, originals: list[Answers], sighted: bool) -> Evidence:
    """`originals`: of every model that ever showed the bug, those that are gone included; `sighted`: one of them was
    shown tonight, by its reduction, to fail because of this very bug."""
    every = [reduced, *originals]
    if reduced.failed and reduced.passed:
        return Evidence.FLAKY
    if sighted or reduced.failed:
        return Evidence.SEEN
    # The reduced program passes and an original fails, from another cause or an unknown one: not a fix.
    if any(each.failed for each in originals):
        return Evidence.NO_ANSWER
    if all(each.passed >= CLEAN_RUNS and not each.unanswered for each in every):
        return Evidence.CLEAN
    return Evidence.NO_ANSWER


@dataclass(frozen=True)
class State:
    standing: Standing = Standing.NONE
    clean_nights: int = 0
    shown: Shown = Shown.NEW


# How it stood, tonight's evidence -> how it stands, what is shown. An open bug that was clean is in a row of its own.
TABLE: dict[tuple[Standing, Evidence], tuple[Standing, Shown]] = {
    (Standing.NONE, Evidence.SEEN): (Standing.OPEN, Shown.NEW),
    # Found in a night that was abandoned before its end, so that it was never shown.
    (Standing.NONE, Evidence.CLEAN): (Standing.OPEN, Shown.KNOWN),
    (Standing.NONE, Evidence.NO_ANSWER): (Standing.OPEN, Shown.NO_ANSWER),
    (Standing.NONE, Evidence.FLAKY): (Standing.OPEN, Shown.FLAKY),
    (Standing.OPEN, Evidence.SEEN): (Standing.OPEN, Shown.KNOWN),
    (Standing.FIXED, Evidence.SEEN): (Standing.OPEN, Shown.REGRESSED),
    (Standing.OPEN, Evidence.CLEAN): (Standing.OPEN, Shown.KNOWN),
    (Standing.FIXED, Evidence.CLEAN): (Standing.FIXED, Shown.FIXED),
    (Standing.OPEN, Evidence.NO_ANSWER): (Standing.OPEN, Shown.NO_ANSWER),
    (Standing.FIXED, Evidence.NO_ANSWER): (Standing.FIXED, Shown.NO_ANSWER),
    (Standing.OPEN, Evidence.FLAKY): (Standing.OPEN, Shown.FLAKY),
    (Standing.FIXED, Evidence.FLAKY): (Standing.FIXED, Shown.FLAKY),
}


def outlook(state: State, evidence: Evidence) -> str:
    """Returns the words about a bug that is not fixed yet but was clean tonight: `known` alone would say that it still
    fails. Empty for any other."""
    if state.shown is not Shown.KNOWN or evidence is not Evidence.CLEAN:
        return ""
    more = CLEAN_NIGHTS - state.clean_nights
    return f"passes tonight; fixed if it passes in {more} more night{'s' if more > 1 else ''}"


def next_state(before: State, evidence: Evidence) -> State:
    standing, shown = TABLE[before.standing, evidence]
    if standing is Standing.OPEN and evidence is Evidence.CLEAN:
        nights = before.clean_nights + 1
        if nights >= CLEAN_NIGHTS:
            return State(Standing.FIXED, nights, Shown.FIXED)
        return State(Standing.OPEN, nights, Shown.KNOWN)
    # No answer neither counts as a clean night nor undoes one.
    kept = before.clean_nights if evidence in (Evidence.NO_ANSWER, Evidence.CLEAN) else 0
    return State(standing, kept, shown)
