#!/usr/bin/env python3
"""docs/found/NAME.md again: each failure of docs/found.md in a small host, reduced by the program, its issue.md kept.

    PYTHON issues.py --program build/repro-minify --out FOLDER [--only NAME] [--again]

PYTHON is one with the torch that the program was built against. The host has a few operators before the failure and
behind it, and is traced (scripted where a trace does not keep it). FOLDER/NAME/failing.pt and inputs.pt are what is
reduced, FOLDER/NAME.repro/ what comes of it; --again reads what is there already. An issue.md is kept where its
repro.py verified and every rule of tests/repro/issue_md_rules.py holds. NAME is that of the link in the table of
docs/found.md. Prints a row of a table for each, and exits with 1 where one is not kept.
"""

import argparse
import ast
import json
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from found import FOUND, programs

PROGRAM = FOUND.parents[1] / "build" / "repro-minify"
RULES = FOUND.parents[1] / "tests" / "repro" / "issue_md_rules.py"
ISSUES = FOUND.parent / "found"
LINK = re.compile(r"^\| \[(?P<heading>.*?)\]\(#.*?\) \|.*\(found/(?P<name>[\w-]+)\.md\)", re.M)
OPTIONS = {
    # Otherwise the search slips to a float32 linspace, which is one unit off in the last place.
    "linspace-int64": ["--compare", "exact", "--skip-pass", "arguments"],
    "sum-float16": ["--compare", "exact"],
}
SCRIPTED = {"add-zero"}  # a trace has a Tensor in the place of the 0
NOISE = torch.tensor([[0.5, -1.0, 2.0], [4.0, -0.25, 1.0]])  # exact in whatever the host does with it


@dataclass(frozen=True)
class Failure:
    name: str
    source: str
    function: Callable[..., Tensor]
    inputs: list[Tensor]


class Host(torch.nn.Module):
    """Operators that are exact on either side, so that what differs is the failure."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, noise: Tensor, *values: Tensor) -> Tensor:
        noise = torch.relu(noise * 2) - 1
        first, *others = values
        result = self.function(first.unsqueeze(0).clone().squeeze(0), *others)
        return torch.where(noise.sum() > 0, result, torch.zeros_like(result))


HOST_IN_TEXT = """
def forward(self, noise, {x}):
    noise = torch.relu(noise * 2) - 1
    {x} = {x}.unsqueeze(0).clone().squeeze(0)
    result = {expression}
    return torch.where(noise.sum() > 0, result, torch.zeros_like(result))
"""


def failures(text: str) -> Iterator[Failure]:
    names = {link["heading"]: link["name"] for link in LINK.finditer(text)}
    for heading, source in programs(text):
        if heading in names:
            values: dict[str, object] = {}
            exec(source, values)
            function, inputs = values["f"], values["inputs"]
            assert callable(function) and isinstance(inputs, list)
            yield Failure(names[heading], source, function, inputs)


def scripted(source: str) -> torch.jit.ScriptModule:
    """For a function of one argument."""
    function = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda))
    module = torch.jit.ScriptModule()
    words = {"x": function.args.args[0].arg, "expression": ast.unparse(function.body)}
    module.define(HOST_IN_TEXT.format(**words))
    return module


def host_of(failure: Failure) -> torch.jit.ScriptModule:
    if failure.name in SCRIPTED:
        return scripted(failure.source)
    inputs = (NOISE, *(value.clone() for value in failure.inputs))
    return torch.jit.trace(Host(failure.function), inputs, check_trace=False)


def save_host(failure: Failure, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    host_of(failure).save(str(folder / "failing.pt"))
    torch.save((NOISE, *failure.inputs), folder / "inputs.pt")
    return folder / "failing.pt"


def reduce(arguments: argparse.Namespace, failure: Failure) -> None:
    model = save_host(failure, arguments.out / failure.name)
    command = [arguments.program, model, "--backend", "inductor", "--python", sys.executable, "--threads", "1"]
    command += [*OPTIONS.get(failure.name, []), "--force", "-o", arguments.out / f"{failure.name}.repro"]
    with (arguments.out / f"{failure.name}.log").open("w") as log:
        subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False)


def broken_rules(issue: Path) -> str:
    process = subprocess.run([sys.executable, RULES, issue], capture_output=True, text=True)
    return "" if process.returncode == 0 else " ".join(process.stdout.split("\n"))


def preflight_of(issue: str) -> str:
    """Returns the text below "Before you file"."""
    said = issue.partition("#### Before you file\n")[2].partition("\n###")[0]
    return " ".join(said.split()).removeprefix("- ")


def judged(failure: Failure, folder: Path) -> tuple[bool, str]:
    """Is its issue.md kept? With the row that says why."""
    if not (folder / "issue.md").exists():
        return False, f"| {failure.name} | not reduced: see {failure.name}.log |"
    report = json.loads((folder / "report.json").read_text())
    verified = bool(report["repro_py"]["verified"])
    broken = broken_rules(folder / "issue.md")
    guilty = (report["bisect"] or {}).get("guilty") or "-"
    row = (
        failure.name,
        f"{report['before']['operators']} to {report['after']['operators']}",
        f"{report['checks']} checks, {report['seconds']['total']:.0f} s",
        report["repro_py"]["verification"],
        guilty,
        preflight_of((folder / "issue.md").read_text()),
        broken or "all rules hold",
    )
    return verified and not broken, "| " + " | ".join(row) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=PROGRAM, help="repro-minify")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="a part of the name")
    parser.add_argument("--again", action="store_true", help="do not run the program")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ISSUES.mkdir(exist_ok=True)
    problems = 0
    for failure in failures(FOUND.read_text()):
        if arguments.only not in failure.name:
            continue
        if not arguments.again:
            reduce(arguments, failure)
        folder = arguments.out / f"{failure.name}.repro"
        is_kept, row = judged(failure, folder)
        if is_kept:
            shutil.copyfile(folder / "issue.md", ISSUES / f"{failure.name}.md")
        problems += not is_kept
        print(row, flush=True)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
