"""The result that a reduction has written."""

import ast
import base64
import json
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .errors import InternalError, ReproMinifyError
from .program import run
from .verdict import Verdict, verdict_of_report

OF_THE_ORIGINAL = ("graph", "inputs", "input", "method", "train")  # how that was read: reduced.pt is flat


OF_THE_SCRIPT = ("run", "compiled", "eager", "with_constants", "with_passes")  # what repro.py defines beside


def defined_in(script: Path) -> str:
    """The functions and classes of the program in a repro.py."""
    text = script.read_text(encoding="utf-8")
    made = [node for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return "\n\n\n".join(str(ast.get_source_segment(text, node)) for node in made if node.name not in OF_THE_SCRIPT)


@dataclass
class Result:
    folder: Path
    report: dict[str, Any] = field(repr=False)  # report.json

    @property
    def verdict(self) -> Verdict:
        return verdict_of_report(self.report)

    @property
    def program(self) -> str:
        """The source of the reduced program, as repro.py has it where that is one for torch.compile; empty for a model
        that was handed back as it was given."""
        program = self.report["program"]
        source = str(program["source"]) if program else ""
        is_written = source.startswith("def f(") and "repro.py" in self.report["files"]
        return defined_in(self.folder / "repro.py") or source if is_written else source

    @property
    def issue(self) -> str:
        """The text for an issue tracker; empty where an oracle was asked, as only that knows what is wrong."""
        path = self.folder / "issue.md"
        return path.read_text() if path.is_file() else ""

    @property
    def verified(self) -> bool | None:
        """True if the repro was built, run, and failed the same way; None where that was not tried."""
        return self.report["verified"]  # type: ignore[no-any-return]

    @property
    def guilty_step(self) -> str:
        """The guilty step of the backend; empty where it was not looked for or not found."""
        bisection = self.report["bisect"]
        return str(bisection["guilty"] or "") if bisection else ""

    @property
    def repro(self) -> Path:
        """The file to run: Python's where it was seen to fail, else the C++."""
        names = ("repro.py", "repro.cpp", "reduced.pt")
        return self.folder / next(name for name in names if name in self.report["files"])

    @cached_property
    def picture(self) -> bytes:
        """The reduced program as SVG, coloured by error: `repro-minify analyze`, asked once. Empty without Graphviz."""
        with tempfile.TemporaryDirectory(prefix="repro-minify-") as temporary:
            output = Path(temporary) / "analysis"
            config = Path(temporary) / "config.toml"
            files = {"config": config, "model": self.folder / "reduced.pt", "inputs": self.folder / "inputs.pt"}
            words = [f"--{option}={path}" for option, path in files.items()]
            try:
                lines = (self.folder / "config.toml").read_text().splitlines(keepends=True)
                config.write_text("".join(line for line in lines if line.partition(" =")[0] not in OF_THE_ORIGINAL))
                run(["analyze", *words, f"--output={output}", "--quiet"])
                return (output / "analysis.svg").read_bytes()
            except (ReproMinifyError, OSError):
                return b""

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.repro}\n\n{self.program}"

    def _repr_html_(self) -> str:
        from .rendering import page

        picture = base64.b64encode(self.picture).decode()
        return page("result", result=self, report=self.report, picture=picture)


def result_in(folder: Path) -> Result:
    """Returns the result in a folder that the program has written."""
    try:
        return Result(folder, json.loads((folder / "report.json").read_text()))
    except (OSError, ValueError) as error:
        raise InternalError(f"{folder}/report.json cannot be read: {error}") from error
