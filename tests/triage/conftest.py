"""A folder of models, a world that decides what fails, and triage over them, as its user runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

HERE = Path(__file__).parent


@dataclass
class Site:
    """Where a test's triage lives. The models' inputs.pt are left out: fake models have none."""

    ready: ClassVar["subprocess.Popen[str]"]
    fake_program: ClassVar[Path]
    folder: Path
    backends: str = "freeze,jit"
    options: list[str] = field(default_factory=list)

    @property
    def models(self) -> Path:
        return self.folder / "models"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def add_model(self, name: str, **faults: str) -> Path:
        self.models.mkdir(exist_ok=True)
        path = self.models / f"{name}.pt"
        path.write_text(json.dumps({"faults": faults, "name": name}))
        return path

    def world(self, **now: Any) -> None:
        (self.folder / "world.json").write_text(json.dumps(now))

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "repro_minify_triage.command_line", *words]

    def environment(self) -> dict[str, str]:
        added = {"FAKE_WORLD": str(self.folder / "world.json"), "REPRO_MINIFY_PROGRAM": str(self.fake_program)}
        return {**os.environ, **added, "COLUMNS": "200"}

    def call(self, *words: str, code: int | None = None) -> subprocess.CompletedProcess[str]:
        """Runs triage in a child of ready.py; command() is for what needs a process of its own."""
        out, err = self.folder / "called.out", self.folder / "called.err"
        given = {"words": words, "environment": self.environment(), "folder": os.getcwd()}
        assert self.ready.stdin and self.ready.stdout
        print(json.dumps({**given, "out": str(out), "err": str(err)}), file=self.ready.stdin, flush=True)
        ended = int(self.ready.stdout.readline())
        done = subprocess.CompletedProcess(words, ended, out.read_text(), err.read_text())
        if code is not None:
            assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def night_words(self) -> list[str]:
        return [
            "run",
            str(self.models),
            "--backend",
            self.backends,
            "--store",
            str(self.store),
            "--jobs",
            "4",
            *self.options,
        ]

    def night(self, code: int | None = None) -> dict[str, Any]:
        self.call(*self.night_words(), code=code)
        return self.report()

    def report(self) -> dict[str, Any]:
        file = self.folder / "report.json"
        self.call("report", "--store", str(self.store), "--json", str(file))
        found: dict[str, Any] = json.loads(file.read_text())
        return found

    def mark(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        return self.call("mark", *words, "--store", str(self.store), code=code)


@pytest.fixture(scope="session", autouse=True)
def started_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Makes once what each test would have to make again: a triage that is ready, and the fake program's script."""
    Site.fake_program = tmp_path_factory.mktemp("fake") / "repro-minify"
    Site.fake_program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{HERE / "fake_program.py"}" "$@"\n')
    Site.fake_program.chmod(0o755)
    words = [sys.executable, str(HERE / "ready.py")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as Site.ready:
        yield


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(tmp_path)
    made.world()
    return made


States = Callable[[dict[str, Any]], dict[int, str]]


def states(report: dict[str, Any]) -> dict[int, str]:
    return {bug["id"]: bug["state"] for bug in report["bugs"]}
