"""The man page and completions, made from the options themselves, as their readers read them."""

import functools
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from repro_minify.program import run


@functools.cache
def help_as(form: str) -> str:
    ended = run(["--help-as", form])
    assert ended.code == 0 and ended.said == ""
    return ended.output


def written(form: str, work: Path) -> Path:
    path = work / "repro-minify.help"
    path.write_text(help_as(form))
    return path


def need(program: str) -> str:
    return shutil.which(program) or pytest.skip(f"no {program} here")


def said_by(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    return ended.stdout


def completed_by_bash(path: Path, line: str) -> set[str]:
    words = line.split(" ")
    script = (
        f"source {path}; COMP_WORDS=({line}{' ' + repr('') if line.endswith(' ') else ''}); "
        f"COMP_CWORD={len(words) - 1}; _repro_minify; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    return set(said_by(need("bash"), "-c", script).split())


def test_every_option_is_in_each(work: Path) -> None:
    texts = {form: help_as(form) for form in ("man", "bash", "zsh", "fish")}
    for command in json.loads(help_as("json")):
        for option in command["options"]:
            for name in [*option["names"], *filter(None, [option["off"]])]:
                bare = name.lstrip("-")
                assert name.replace("-", "\\-") in texts["man"] or command["command"], name
                assert name in texts["bash"] and name in texts["zsh"], name
                assert f" -l {bare} " in texts["fish"] or f" -s {bare} " in texts["fish"], name


def test_man_page_is_clean(work: Path) -> None:
    path = written("man", work)
    text = said_by(need("groff"), "-man", "-ww", "-Tutf8", "-P-cbou", str(path))
    assert "repro-minify - minimises a TorchScript model" in text
    assert "--same-failure" in text and "EXIT CODES" in text
    assert said_by(need("groff"), "-man", "-ww", "-z", str(path)) == ""


def test_bash(work: Path) -> None:
    path = written("bash", work)
    assert completed_by_bash(path, "repro-minify --backend fr") == {"freeze"}
    assert completed_by_bash(path, "repro-minify m.pt --same-failure ") == {"strict", "kind", "any"}
    assert completed_by_bash(path, "repro-minify analy") == {"analyze"}
    assert completed_by_bash(path, "repro-minify m.pt --no-v") == {"--no-verify"}
    assert completed_by_bash(path, "repro-minify run m.pt --no-v") == set()
    (work / "model.pt").touch()
    assert completed_by_bash(path, f"repro-minify --inputs {work}/mod") == {f"{work}/model.pt"}


def test_zsh(work: Path) -> None:
    path = written("zsh", work)
    assert path.read_text().startswith("#compdef repro-minify\n")
    assert said_by(need("zsh"), "-n", str(path)) == ""
    specs = "autoload -U compinit; compinit -u -d dump; source repro-minify.help; whence -w _repro_minify"
    assert said_by(need("zsh"), "-f", "-c", specs) == "_repro_minify: function\n"


def test_fish(work: Path) -> None:
    path = written("fish", work)
    asked = f"source {path}; complete -C 'repro-minify --backend fr'; complete -C 'repro-minify run m.pt --no-au'"
    said = said_by(need("fish"), "--no-config", "-c", asked)
    assert [line.split("\t")[0] for line in said.splitlines()] == ["freeze", "--no-autocast"]
