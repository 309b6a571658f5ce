"""scripts/triage.sh in a clone: what it says before anything is set up, and which program it finds."""

import shutil
import subprocess
from pathlib import Path

from repro_minify_triage.command_line import app

ROOT = Path(__file__).parents[2]
COMMAND_LINE = "src/triage/repro_minify_triage/command_line.py"


def clone(folder: Path) -> Path:
    """Copies what triage.sh reads to `folder`; whatever else it starts says so, and fails."""
    for name in ("scripts/triage.sh", COMMAND_LINE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("python_venv.sh", "build.sh", "setup.sh"):
        script(folder / "scripts" / name, f"echo {name} was started; exit 1")
    return folder


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def with_environment(folder: Path) -> Path:
    """With a virtual environment whose triage prints what it is given."""
    script(folder / "scripts/python_venv.sh", f"python_venv={folder}/venv")
    script(folder / "venv/bin/repro-minify-triage", 'echo "$REPRO_MINIFY_PROGRAM" "$@"')
    return folder


def said_by(folder: Path, *words: str) -> str:
    environment = {"PATH": "/usr/bin:/bin"}
    process = subprocess.run([folder / "scripts/triage.sh", *words], capture_output=True, text=True, env=environment)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_help_is_there_before_anything_is_set_up(tmp_path: Path) -> None:
    before = sorted(clone(tmp_path).rglob("*"))
    said = said_by(tmp_path, "--help")
    listed = {line.split()[0]: line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("  ")}
    commands = {each.name or each.callback.__name__: each.callback for each in app.registered_commands if each.callback}
    assert list(listed) == list(commands)
    for name, command in commands.items():
        assert listed[name] == (command.__doc__ or "").splitlines()[0]
    assert sorted(tmp_path.rglob("*")) == before


def test_help_of_a_command_needs_no_program(tmp_path: Path) -> None:
    assert said_by(with_environment(clone(tmp_path)), "run", "--help").split() == ["run", "--help"]


def test_what_is_built_is_found(tmp_path: Path) -> None:
    built = with_environment(clone(tmp_path)) / "build/dev/repro-minify"
    script(built, "")
    assert said_by(tmp_path, "run", "x").split() == [str(built), "run", "x"]
    (tmp_path / "build/repro-minify").symlink_to("dev/repro-minify")
    assert said_by(tmp_path, "run", "x").split() == [f"{tmp_path}/build/repro-minify", "run", "x"]
    assert said_by(tmp_path, "list").split() == ["list"]  # which needs none


def test_without_one_it_is_built_and_that_is_said(tmp_path: Path) -> None:
    script(with_environment(clone(tmp_path)) / "scripts/build.sh", f"touch {tmp_path}/built-$1")
    words = [str(tmp_path / "scripts/triage.sh"), "run"]
    process = subprocess.run(words, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert process.stdout.split() == [f"{tmp_path}/build/repro-minify", "run"]
    assert (tmp_path / "built-release").exists() and "building it" in process.stderr
