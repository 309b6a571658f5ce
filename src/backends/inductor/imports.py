"""Modules of Python that the user has named with --import: they register operators. Nothing is imported because a
program asks for it."""

import importlib
import importlib.util
import sys
from pathlib import Path

import torch

names: list[str] = []  # as repro.py imports them
operators: set[str] = set()  # "mylib::op", registered from Python by what was imported


def registered() -> set[str]:
    """The operators that this process has from Python."""
    return {definition.partition(".")[0] for definition in torch.library._defs}


def import_module(given: str) -> None:
    """Imports a module by its name, or a file under its own. Raises ValueError with a sentence where that fails."""
    before = registered()
    try:
        name = from_file(Path(given)) if given.endswith(".py") else importlib.import_module(given).__name__
    except BaseException as error:
        raise ValueError(f"--import {given}: {type(error).__name__}: {' '.join(str(error).split())[:200]}") from error
    names.append(name)
    operators.update(registered() - before)


def from_file(path: Path) -> str:
    """Returns the name under which the file is a module from now on."""
    if path.stem in sys.modules:
        raise ImportError(f"there is a module {path.stem} already; give the file another name")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError("no module of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return path.stem
