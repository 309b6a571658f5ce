#!/usr/bin/env python3
"""torch.compile(model, backend="repro_minify") on five models with graph breaks: which graphs fail, and what is left.

    PYTHON compiled.py --binary build/release/repro-minify --work OUT -o compiled.json [--only NAME]

Each model runs in a process of its own, in OUT/compiled/NAME. Prints a Markdown table. "As eager" says whether the
user's program, which goes on, has what it has without torch.compile (gradients too).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from broken import models
from table import in_a_row

ROOT = Path(__file__).resolve().parents[3]
COLUMNS = ("model", "graphs", "same", "not checked", "fails", "is to fail", "operators before -> after", "verified",
           "as eager", "seconds")  # fmt: skip


def results(run: Any, module: nn.Module, inputs: tuple[Tensor, ...], grad: bool) -> list[Tensor]:
    """Returns what a call returns and, with `grad`, the gradients of the parameters."""
    with torch.set_grad_enabled(grad):
        result = run(*inputs)
    if not grad:
        return [result]
    return [result, *torch.autograd.grad(result.square().sum(), list(module.parameters()))]


def child(name: str) -> None:
    """Compiles one model, and prints what became of its graphs as JSON on the last line."""
    from repro_minify import dynamo

    torch.manual_seed(0)
    one = models()[name]
    module = one.make().train(one.grad)
    expected = results(module, module, one.inputs, one.grad)
    run = torch.compile(module, backend="repro_minify", options=one.options or None)
    found = results(run, module, one.inputs, one.grad)
    report = dynamo.report()
    same = all(torch.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in zip(expected, found))
    counts = {key: getattr(report, key) for key in ("graphs", "same", "unchecked", "failed")}
    result = report.result.report if report.result else None
    verdict = str(report.verdict) if report.verdict else None
    print(json.dumps({**counts, "verdict": verdict, "as_eager": same, "report": result}))


def entry_point(folder: Path) -> Path:
    """Writes the metadata by which Dynamo finds the backend of an installed wheel by its name; a clone has none."""
    described = folder / "repro_minify-0.1.0.dist-info"
    described.mkdir(parents=True, exist_ok=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: repro-minify\nVersion: 0.1.0\n")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (name, target), *_ = project["entry-points"]["torch_dynamo_backends"].items()
    (described / "entry_points.txt").write_text(f"[torch_dynamo_backends]\n{name} = {target}\n")
    return folder


def asked(options: argparse.Namespace, name: str) -> dict[str, Any]:
    folder = options.work / "compiled" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    paths = f"{ROOT / 'src' / 'python'}{os.pathsep}{entry_point(options.work / 'installed')}"
    environment = {**os.environ, "PYTHONPATH": paths, "REPRO_MINIFY_PROGRAM": str(options.binary)}
    began = time.monotonic()
    command = [sys.executable, "-B", __file__, "--child", name]
    finished = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    (folder / "said.txt").write_text(finished.stderr)
    row: dict[str, Any] = {"model": name, "wall": round(time.monotonic() - began, 1), "exit_code": finished.returncode}
    if finished.returncode != 0:
        return {**row, "said": finished.stderr.splitlines()[-2:]}
    return {**row, **json.loads(finished.stdout.splitlines()[-1])}


def in_words(row: dict[str, Any], expected: int | None) -> str:
    if row["exit_code"] != 0:
        return in_a_row(row["model"], f"exit code {row['exit_code']}: {' '.join(row['said'])}")
    report = row["report"]
    counts = f"{report['before']['operators']} -> {report['after']['operators']}" if report else "-"
    verified = "-" if not report else "yes" if report["verified"] else f"no: {report['verification']}"
    return in_a_row(row["model"], row["graphs"], row["same"], row["unchecked"], row["failed"] or "none",
                    expected or "none", counts, verified, "yes" if row["as_eager"] else "no", row["wall"])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "release" / "repro-minify")
    parser.add_argument("--work", type=Path, help="a folder for what is written")
    parser.add_argument("--only", default="", help="a part of the model's name")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    options.work, options.binary = options.work.resolve(), options.binary.resolve()
    rows = []
    print(in_a_row(*COLUMNS), in_a_row(*["---"] * len(COLUMNS)), sep="\n", flush=True)
    for name, one in models().items():
        if options.only in name:
            rows.append(asked(options, name))
            print(in_words(rows[-1], one.fails), flush=True)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
