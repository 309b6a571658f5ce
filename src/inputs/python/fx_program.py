"""A program in the FX dialect on disk: Python source with a class Repro and load_args(), and its data beside it."""

import ast
import inspect
from typing import Any

import torch

import compile_program
from loaded import Loaded
from refused import Refused
from unregistered import refuse_unregistered

MARK = "# repro-minify: a program of torch.fx"


def is_one(text: str) -> bool:
    """True if the first line is the mark."""
    return text.split("\n", 1)[0].strip() == MARK


def defined_in(tree: ast.Module, path: str) -> dict[str, Any]:
    """Returns what the program defines. It is not the main program, so that it compares nothing itself."""
    space: dict[str, Any] = {"__name__": "program", "__file__": path}
    try:
        exec(compile(tree, path, "exec"), space)
    except ModuleNotFoundError as error:
        raise Refused(f"imports {error.name}, which is not here; --import names a module, or its FILE.py") from error
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())[:300]
        raise Refused(f"the program itself ends with {type(error).__name__}: {text}") from error
    for name in ("Repro", "load_args"):
        if not callable(space.get(name)):
            raise Refused(f"is a program of torch.fx that does not define {name}")
    return space


def read(text: str, path: str, seed: int) -> Loaded:
    tree = compile_program.parsed(text)
    loaded = Loaded(torch.nn.Module(), ())
    compile_program.config_words(compile_program.without_config(tree), loaded)
    torch.manual_seed(seed)
    space = defined_in(tree, path)
    refuse_unregistered([ast.unparse(tree)])
    loaded.grad = torch.is_grad_enabled()
    device = None if torch.cuda.is_available() else "cpu"
    try:
        loaded.module, loaded.args = space["Repro"](), tuple(space["load_args"](device))
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        raise Refused(f"its data cannot be loaded: {type(error).__name__}: {text}") from error
    loaded.names = list(inspect.signature(loaded.module.forward).parameters)
    loaded.data = "the data that was saved beside it"
    return loaded
