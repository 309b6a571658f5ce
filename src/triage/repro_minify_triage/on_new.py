"""--on-new: a command of the user's that is told of each bug that is new, or has come back.

It gets the facts as data: some in its environment, all of them as JSON on its standard input. No shell is started and
nothing is put into its words, so that a name or a message in a model stays text, whatever is in it.
"""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from .errors import TriageError
from .facts import ALARMS
from .forms import printable
from .states import Shown
from .store import Store, now

SECONDS = 600.0  # after that it is ended, and counts as failed


def command_of(text: str) -> list[str]:
    """Returns the words of the command. Raises TriageError now if there is no such program: the night takes hours."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise TriageError(f"--on-new {text}: a quotation mark that is not closed") from error
    found = shutil.which(words[0]) if words else None
    if not found:
        raise TriageError(f"--on-new {text}: no such program; give a command, without a shell (or: sh -c '...')")
    return [found, *words[1:]]


def environment_of(bug: dict[str, Any], night: int, store: Store) -> dict[str, str]:
    words = {
        "BUG": bug["id"], "STATE": bug["state"], "NIGHT": night, "BACKEND": bug["backend"],
        "KIND": bug["parts"]["kind"], "STEP": bug["parts"]["guilty"], "MESSAGE": bug["message"],
        "MODELS": bug["models"],
    }  # fmt: skip
    paths = {"TRIAGE_REPRO": bug["repro"], "TRIAGE_STORE": str(store.folder.resolve())}
    return {f"TRIAGE_{name}": printable(str(value)) for name, value in words.items()} | paths


def tell(store: Store, facts: dict[str, Any], command: list[str], say: Callable[[str], None]) -> None:
    """Runs the command once for each new or regressed bug of the last night, and for each earlier one that it has not
    taken and that is still there. If it fails, that is said, and the next run tells it again."""
    night = facts["nights"][-1]["id"]
    known = {row["bug_id"] for row in store.rows("SELECT bug_id FROM told WHERE night_id = ?", night)}
    untold = {row["bug_id"]: row["state"] for row in store.rows("SELECT * FROM untold")}
    for bug in facts["bugs"]:
        if bug["state"] == Shown.KNOWN and bug["id"] in untold:
            bug = {**bug, "state": untold[bug["id"]]}
        if bug["state"] not in ALARMS or bug["id"] in known or not bug["nights"]:
            continue  # what a night found that is not over is told at its end
        if problem := problem_of_call(command, bug, environment_of(bug, night, store)):
            say(f"--on-new: bug {bug['id']}: {problem}; it is told again by the next run")
            with store.change() as db:
                db.execute("INSERT OR REPLACE INTO untold VALUES (?, ?)", (bug["id"], bug["state"]))
            continue
        with store.change() as db:
            db.execute("INSERT OR IGNORE INTO told VALUES (?, ?, ?)", (night, bug["id"], now()))
            db.execute("DELETE FROM untold WHERE bug_id = ?", (bug["id"],))


def problem_of_call(command: list[str], bug: dict[str, Any], environment: dict[str, str]) -> str:
    """Runs the command with the bug on its standard input. Returns why it failed; empty if it did not."""
    try:
        done = subprocess.run(
            command, input=json.dumps(bug) + "\n", text=True, env=os.environ | environment, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS:.0f} s"
    except OSError as error:
        return f"{command[0]} cannot be started: {error.strerror}"
    return f"exit code {done.returncode}" if done.returncode else ""
