"""Operators that the user's own Python has registered, and the modules that another process has to import for them."""

from __future__ import annotations

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import torch

from .errors import CannotTrace

DEFINING = {"define", "impl", "register_fake", "register_autograd", "register_kernel", "register_vmap"}
"""Methods that may be called while a script that registers operators is imported."""


def operators_of(module: torch.fx.GraphModule) -> set[str]:
    """The operators in a graph, and in those that it is given, that only this process has: "mylib::op"."""
    from_python = {definition.partition(".")[0] for definition in torch.library._defs}
    graphs = [inner.graph for inner in module.modules() if isinstance(inner, torch.fx.GraphModule)]
    packets = (getattr(node.target, "overloadpacket", node.target) for graph in graphs for node in graph.nodes)
    names = {str(getattr(packet, "_qualified_op_name", "")) for packet in packets}
    return {name for name in names & from_python if not name.startswith(("prims::", "aten::", "inductor::"))}


def module_of(operator: str) -> ModuleType:
    """The module that registers an operator. Raises CannotTrace where none is known."""
    definition = torch._library.custom_ops.OPDEFS.get(operator)
    home = definition._init_fn.__module__ if definition else None
    found = sys.modules.get(home) if home else next(holders_of(operator), None)
    if found is None:
        raise CannotTrace(f"it calls {operator}, an operator that is registered from Python, and no module is known to")
    return found


def holders_of(operator: str) -> Iterator[ModuleType]:
    """Modules that have a torch.library.Library with the operator among their names."""
    for module in list(sys.modules.values()):
        values = list(vars(module).values()) if isinstance(module, ModuleType) else []
        if any(isinstance(value, torch.library.Library) and operator in value._op_defs for value in values):
            yield module


def importable(operator: str, folder: Path) -> str:
    """The module that registers an operator, as --import takes it: its name where Python finds it elsewhere too, or a
    copy of its file in `folder`. Raises CannotTrace with a sentence where there is neither."""
    module = module_of(operator)
    file = getattr(module, "__file__", None)
    said = f"it calls {operator}, an operator that is registered from Python"
    if not file or not file.endswith(".py"):
        raise CannotTrace(f"{said} in no file; put it into a module of its own")
    if module.__name__ == "__main__" and (line := line_that_does_more(Path(file))):
        raise CannotTrace(
            f"{said} in the script itself, whose line {line} does more than define when it is imported; put the "
            "operator into a module of its own"
        )
    if "." in module.__name__ or is_installed(file):
        return module.__name__
    if re.fullmatch(r"program(-\d+)?", Path(file).stem):
        raise CannotTrace(f"{said} in {Path(file).name}, which is the name of what is written here; rename that file")
    return str(shutil.copy(file, folder))


def is_installed(file: str) -> bool:
    return "site-packages" in Path(file).parts or "dist-packages" in Path(file).parts


def line_that_does_more(path: Path) -> int:
    """The first line of a script that does more than import, define and name when it is run by another name than
    __main__; 0 where none does."""
    for statement in ast.parse(path.read_text()).body:
        if not defines_only(statement):
            return statement.lineno
    return 0


def defines_only(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Pass)):
        return True
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) == "__name__ == '__main__'" and not statement.orelse
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return statement.value is None or all(map(makes_library, calls_in(statement.value)))
    if isinstance(statement, ast.Expr):
        calls = calls_in(statement.value)
        return not calls or len(calls) == 1 and is_definition(calls[0])
    return False


def calls_in(value: ast.expr) -> list[ast.Call]:
    return [part for part in ast.walk(value) if isinstance(part, ast.Call)]


def makes_library(call: ast.Call) -> bool:
    return ast.unparse(call.func).split(".")[-1] == "Library"


def is_definition(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in DEFINING


def modules_for(module: torch.fx.GraphModule, folder: Path) -> list[str]:
    """The modules that register the operators of a graph, as --import takes them. Raises CannotTrace."""
    return sorted({importable(operator, folder) for operator in sorted(operators_of(module))})


def lines_for(modules: list[str]) -> list[str]:
    """The lines of a program that import them."""
    return [f"import {Path(one).stem if one.endswith('.py') else one}" for one in modules]
