#!/usr/bin/env python3
"""Stands for repro-minify: the same command line, files and exit codes, and failures that a test decides.

A model is JSON: {"faults": {BACKEND: FAULT}}. What tonight's world is like stands in the file that FAKE_WORLD names:
  mended          faults that are gone
  mended_reduced  faults whose reduced program passes while the original still fails
  changed         {FAULT: FAULT}: what an original is reduced to instead
  broken          backends whose build is broken
  flaky           faults that show in every second check
  unreadable      models (part of the path) that cannot be opened
  lost            models (part of the path) whose check dies without a word
  told            true: each start is said in a line of its own in WORLD.started, the process's number
  seconds         how long a check takes
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def world() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(os.environ["FAKE_WORLD"]).read_text())
    return found


def is_flaky_pass(fault: str) -> bool:
    file = Path(os.environ["FAKE_WORLD"]).with_suffix(f".{fault}.count")
    count = int(file.read_text()) if file.exists() else 0
    file.write_text(str(count + 1))
    return count % 2 == 1


def fault_of(model: dict[str, Any], backend: str, now: dict[str, Any]) -> str | None:
    fault: str | None = model["faults"].get(backend)
    if fault in now.get("mended", []) or (model.get("reduced") and fault in now.get("mended_reduced", [])):
        return None
    return None if fault is None or fault in now.get("flaky", []) and is_flaky_pass(fault) else fault


def row_of(path: str, model: dict[str, Any], backend: str, now: dict[str, Any]) -> dict[str, Any]:
    if backend in now.get("broken", []):
        return {"model": path, "backend": backend, "refused": f"--backend {backend}: its build is broken",
                "unreadable": False}  # fmt: skip
    fault = fault_of(model, backend, now)
    signatures = [{"kind": "accuracy", "where": "output", "detail": ""}] if fault else []
    outcome = "fail" if fault else "pass"
    return {
        "model": path,
        "backend": backend,
        "verdict": {
            "outcome": outcome,
            "kind": "accuracy" if fault else None,
            "message": f"wrong by {fault}" if fault else "",
        },
        "rate": {"failed": 1 if fault else 0, "runs": 1, "need": 1},
        "details": {
            "signatures": signatures,
            "wall_seconds": 0.01,
            "eager_failed": False,
            "no_answer": False,
            "outputs": [],
        },
    }


def run(path: str, backends: list[str], now: dict[str, Any]) -> int:
    rows: list[dict[str, Any]]
    if any(part in os.path.realpath(path) for part in now.get("unreadable", [])):
        rows = [{"model": path, "backend": name, "refused": f"{path}: is empty", "unreadable": True}
                for name in backends]  # fmt: skip
    else:
        model = json.loads(Path(path).read_text())
        rows = [row_of(path, model, backend, now) for backend in backends]
    print(json.dumps(rows if len(rows) > 1 else rows[0]))
    refused = [row for row in rows if "refused" in row]
    if refused:
        print(f"error: {refused[0]['refused']}", file=sys.stderr)
    return 1 if any(row.get("verdict", {}).get("outcome") == "fail" for row in rows) else 2 if refused else 0


def reduce(path: str, backend: str, output: Path, now: dict[str, Any]) -> int:
    model = json.loads(Path(path).read_text())
    fault = fault_of(model, backend, now)
    if fault is None:
        return 1
    fault = now.get("changed", {}).get(fault, fault)
    output.mkdir(parents=True, exist_ok=True)
    (output / "reduced.pt").write_text(json.dumps({"faults": {backend: fault}, "reduced": True}))
    report = {
        "verdict": {"kind": "accuracy", "detail": "", "message": f"wrong by {fault}", "where": "output"},
        "bisect": {"guilty": f"Step{fault[0]}", "pass": f"Step{fault[0]}"},
        "program": {"canonical": f"return aten::{fault}(%1:float32)", "operators": [f"aten::{fault}"],
                    "essence": fault,
                    "source": f"# {fault}\n"},
        "verified": None,
    }  # fmt: skip
    (output / "report.json").write_text(json.dumps(report))
    (output / "report.md").write_text(f"# {fault}\n")
    return 0


def main() -> int:
    words = sys.argv[1:]
    if words == ["--version"]:
        print("repro-minify 0.1.0\ntorch 2.13.0\ncommit unknown\ncompiler GCC 12.2.0")
        return 0
    if words == ["backends", "--json"]:
        print(
            json.dumps([{"name": name} for name in ("jit", "nnc", "freeze", "inductor", "inductor-like", "autocast")])
        )
        return 0
    if "--print-config" in words:
        unknown = [word for word in words if word.startswith("--tiemout")]
        print(f"error: not expected: {unknown[0]}" if unknown else "", file=sys.stderr)
        return 2 if unknown else 0
    now = world()
    if now.get("told"):
        with Path(os.environ["FAKE_WORLD"]).with_suffix(".started").open("a") as file:
            file.write(f"{os.getpid()}\n")
    time.sleep(now.get("seconds", 0))
    is_run = words[0] == "run"
    path = words[1] if is_run else words[0]
    real = os.path.realpath(path)
    if any(part in real for part in now.get("lost", [])):
        os.kill(os.getpid(), 9)
    backends = words[words.index("--backend") + 1].split(",")
    if is_run:
        return run(path, backends, now)
    return reduce(path, backends[0], Path(words[words.index("-o") + 1]), now)


if __name__ == "__main__":
    sys.exit(main())
