"""Triage with all its modules read: forks for each call that a test makes, so that no call reads them again.

A call is a line of JSON on standard input: words, environment, folder, and the files for what it writes. Its exit code
is a line on standard output. The child ends as any Python does.
"""

import contextlib
import json
import os
import sys
from typing import Any

from repro_minify_triage import command_line
from repro_minify_triage.errors import TriageError


def become(call: dict[str, Any]) -> None:
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    for number, name in enumerate((os.devnull, call["out"], call["err"])):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["repro-minify-triage", *call["words"]]


def main() -> None:
    with contextlib.suppress(TriageError):  # typer reads modules of its own with the first words that it is given
        command_line.app(["report", "--store", "/dev/null/none"], standalone_mode=False)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            become(json.loads(line))
            command_line.main()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
