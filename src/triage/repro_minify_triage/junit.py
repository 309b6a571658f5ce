"""The last night as JUnit XML, for a CI: a case for each model and backend.

A CI that is red for ever is looked at by no one. So what fails because of bugs that are all known is skipped, with the
same words that a failure has; `known="fail"` makes failures of these too.
"""

from typing import Any

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from .facts import ALARMS
from .forms import printable

KNOWN_AS = ("skip", "fail")
Cell = tuple[str, str]  # model and backend


def as_junit(facts: dict[str, Any], known: str = "skip") -> str:
    matrix, xml = facts["matrix"], JUnitXml("repro-minify-triage")
    writer = CaseWriter(facts, known)
    for column, backend in enumerate(matrix["backends"]):
        suite = TestSuite(printable(backend))
        cases: list[TestCase] = []
        for row, model in enumerate(matrix["models"]):
            tonight, yesterday, seconds = (matrix[name][row][column] for name in ("tonight", "yesterday", "seconds"))
            if tonight:  # nothing: the model was not asked under this backend
                cases.append(writer.case_of((model, backend), tonight, yesterday, seconds))
        suite.add_testcases(cases)  # each call counts the whole suite again
        xml.add_testsuite(suite)
    xml.update_statistics()
    text = xml.tostring()
    return text.decode() if isinstance(text, bytes) else str(text)


class CaseWriter:
    def __init__(self, facts: dict[str, Any], known: str) -> None:
        self.known_as = known
        self.bugs: dict[Cell, list[dict[str, Any]]] = {}
        for bug in facts["bugs"]:
            for sighting in bug["sightings"]:
                if sighting["night"] == facts["nights"][-1]["id"]:
                    self.bugs.setdefault((sighting["model"], sighting["backend"]), []).append(bug)
        self.why = {
            name: {(row["model"], row["backend"]): row["why"] for row in facts[name]}
            for name in ("no_answer", "not_reduced", "left_out")
        }
        self.unreadable = {row["model"]: row for row in facts["unreadable"]}
        self.messages = {(row["model"], row["backend"]): row["message"] for row in facts["failing"]}

    def case_of(self, cell: Cell, tonight: str, yesterday: str, seconds: float) -> TestCase:
        case = TestCase(printable(cell[0]), classname=printable(cell[1]), time=seconds)
        if cell[0] in self.unreadable:
            row = self.unreadable[cell[0]]
            kind = Error if row["is_new"] else Skipped
            case.result = [kind(printable(f"cannot be read: {row['why']}"), "unreadable")]
        elif tonight == "fail":
            self.describe_failure(case, cell, is_old=yesterday == "fail")
        elif tonight == "flaky":
            case.result = [Skipped("flaky: fails in some of its runs", "flaky")]
        elif tonight == "no answer":
            case.result = [Error(printable(self.why["no_answer"].get(cell, "no answer")), "no answer")]
        return case

    def describe_failure(self, case: TestCase, cell: Cell, is_old: bool) -> None:
        bugs = self.bugs.get(cell, [])
        if bugs:
            state = next((bug["state"] for bug in bugs if bug["state"] in ALARMS), "known")
            message = "; ".join(f"bug {bug['id']} ({bug['state']}): {bug['message']}" for bug in bugs)
            text = "\n\n".join(map(text_of, bugs))
        else:
            why = self.why["not_reduced"].get(cell) or self.why["left_out"].get(cell) or "not reduced"
            state = "known" if is_old else "new"
            message, text = f"{self.messages.get(cell, 'fails')} ({why})", ""
        is_failure = state in ALARMS or self.known_as == "fail"
        result = (Failure if is_failure else Skipped)(printable(message), printable(state))
        result.text = printable(text)
        case.result = [result]
        if not is_failure:
            case.system_out = printable(text)  # many a CI shows no text of what is skipped


def text_of(bug: dict[str, Any]) -> str:
    lines = [
        f"bug {bug['id']}: {bug['state']}, first seen in night {bug['first_night']}, {bug['models']} model(s)",
        f"guilty step: {bug['parts']['guilty'] or 'not known'}",
        f"repro: {bug['repro']}",
        "",
        bug["program"].rstrip(),
    ]
    return "\n".join(lines)
