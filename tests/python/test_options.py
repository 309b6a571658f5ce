"""The options are those of the command line, by the same names."""

import functools
import json
from pathlib import Path

from repro_minify import CheckOptions, MinifyOptions
from repro_minify.options import CHOICES, arguments_of
from repro_minify.program import run

# Options of the program that have a parameter of their own, or are for people at a terminal.
NOT_OPTIONS = {"model", "backend", "inputs", "help", "version", "json", "list_passes", "print_config", "help_json"}
NOT_OPTIONS |= {"all"}  # minify_all()
OF_PYTHON = {"dynamic"}  # an entry of --inductor-config


@functools.cache
def names_of(command: str) -> dict[str, dict[str, object]]:
    commands = {each["command"]: each for each in json.loads(run(["--help-json"]).output)}
    names = {each["names"][0].removeprefix("--").replace("-", "_"): each for each in commands[command]["options"]}
    names["imports"] = names.pop("import")  # a word of Python's
    return {name: each for name, each in names.items() if name not in NOT_OPTIONS}


def test_minify_has_all_of_the_program() -> None:
    assert set(MinifyOptions.__annotations__) == {*names_of(""), *OF_PYTHON}


def test_check_has_all_of_run() -> None:
    assert set(CheckOptions.__annotations__) == {*names_of("run"), *OF_PYTHON}


def test_choices_and_switches_are_those_of_the_program() -> None:
    annotations = MinifyOptions.__annotations__
    for name, option in names_of("").items():
        choices = getattr(annotations[name], "__args__", ())
        if "Literal" in str(annotations[name]):
            assert list(choices) == option["values"], name
        assert ("bool" in str(annotations[name])) == (option["value"] == ""), name
    can_be_denied = {name for command in ("", "run") for name, option in names_of(command).items() if option["off"]}
    assert can_be_denied == set(CHOICES)


def test_words() -> None:
    assert arguments_of({"only_fwd": True, "grad": False, "tol": 0.1, "need": None}) == ["--only-fwd", "--tol=0.1"]
    assert arguments_of({"autocast": False, "equal_nan": True}) == ["--no-autocast", "--equal-nan"]
    assert arguments_of({"dynamic": True}) == ["--inductor-config=dynamic=true"]
    assert arguments_of({"timing": False}) == ["--no-timing"]
    assert arguments_of({"verify": False}) == ["--verify"], "there is no such option, and the program says so"
    assert arguments_of({"passes": ["cut", "splice"], "output": Path("a b")}) == [
        "--passes=cut",
        "--passes=splice",
        "--output=a b",
    ]
    assert arguments_of({"inductor_config": {"max_autotune": True, "cpp.simdlen": 1}}) == [
        "--inductor-config=max_autotune=true",
        "--inductor-config=cpp.simdlen=1",
    ]
