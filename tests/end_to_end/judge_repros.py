"""judge_repros.py CHECK.PY (FOLDER BACKEND)...: what CHECK.PY says of each folder's reduced.pt and inputs.pt.

Prints a line of JSON for each, as CHECK.PY does. torch is imported once, and each folder has a child of its own: what
crashes, hangs or changes the process there is no other's affair.
"""

import importlib.util
import json
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import torch

SECONDS = 120


def load(checker):
    spec = importlib.util.spec_from_file_location("check", checker)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_a_child(function, *arguments):
    """How it ended: an exit code, or a signal below zero."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(SECONDS)
            function(*arguments)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def count(check, model, inputs, out):
    """Apart: counting freezes the model, which starts threads, and those of a parent are none of its child's."""
    given = torch.load(inputs, weights_only=True)
    if type(given) is not tuple:
        raise SystemExit(f"{inputs} holds a {type(given).__name__}, not a tuple")
    Path(out).write_text(str(check.count_operators(model)))


def judged(check, folder, backend):
    model, inputs = str(folder / "reduced.pt"), str(folder / "inputs.pt")
    with tempfile.TemporaryDirectory() as work:
        counted, out = Path(work) / "count", Path(work) / "answer.json"
        if in_a_child(count, check, model, inputs, counted) != 0:
            return {"fails": False, "kind": "unreadable"}
        ended = in_a_child(check.child, model, inputs, backend, str(out))
        record = json.loads(out.read_text()) if out.exists() else {"kind": "untried"}
        if ended == -signal.SIGALRM:
            record = {"kind": "hang"}
        return {"fails": record["kind"] in check.FAILURES, "ops": int(counted.read_text()), **record}


def main(checker, *given):
    check = load(checker)
    for folder, backend in zip(given[::2], given[1::2]):
        folder = Path(folder)
        print(json.dumps({"case": folder.name.removesuffix(".repro"), **judged(check, folder, backend)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
