#!/usr/bin/env python3
"""Stands for repro-minify where a test decides what fails: FAKE_FAILS names the checks that do, from 1: "2,3".

Writes each command line to FAKE_LOG. FAKE_REDUCES=no: a reduction ends with exit code 2; same: with 1; graphs: with 1,
but for a program of torch.fx.
"""

import json
import os
import sys
from pathlib import Path


def check(number: int) -> int:
    fails = str(number) in os.environ.get("FAKE_FAILS", "").split(",")
    verdict = {"outcome": "fail" if fails else "pass", "kind": "crash" if fails else None, "where": "", "message": "m"}
    rate = {"failed": int(fails), "runs": 1, "need": 1}
    print(json.dumps({"verdict": verdict, "rate": rate, "backend": "inductor", "details": {}}))
    return int(fails)


def reduce(model: Path) -> int:
    if os.environ.get("FAKE_REDUCES") == "no":
        print("error: it cannot be reduced", file=sys.stderr)
        return 2
    refused = {"same": ("", ".pt", ".py"), "graphs": (".pt",)}
    if model.suffix in refused.get(os.environ.get("FAKE_REDUCES", ""), ()):
        print("error: it does not fail", file=sys.stderr)
        return 1
    folder = model.with_suffix(".repro")
    folder.mkdir()
    (folder / "report.json").write_text(
        json.dumps(
            {
                "verdict": {"kind": "crash", "where": "", "message": "m"},
                "backend": "inductor",
                "program": {"source": "the reduced program"},
                "files": ["reduced.pt", "repro.py"],
            }
        )
    )
    print(folder / "repro.cpp")
    return 0


def main() -> int:
    log = Path(os.environ["FAKE_LOG"])
    words = sys.argv[1:]
    with log.open("a") as file:
        file.write(json.dumps(words) + "\n")
    runs = sum(json.loads(line)[0] == "run" for line in log.read_text().splitlines())
    model = Path(next(word for word in words if word.startswith("--model=")).removeprefix("--model="))
    assert model.is_file(), model
    return check(runs) if words[0] == "run" else reduce(model)


if __name__ == "__main__":
    sys.exit(main())
