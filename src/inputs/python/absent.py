"""Operators of a package that is not here, in a program that torch.compile left behind. Where a log says what such an
operator gave, in the source of the same graph (`attend: "f32[4, 8][8, 1]cpu" = torch.ops.engine.attend(q)`), its
results become inputs, drawn as others are, and the call is gone.
"""

import ast
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._dtype_abbrs import dtype_abbrs

from unregistered import CALLED, is_registered, refusal

GIVEN = re.compile(r'^\s*(\w+): "(\w+)\[([^]"]*)\](?:\[([^]"]*)\])?', re.M)
SYMBOL = re.compile(r'(\w+): "Sym\((\w+)\)"')
DTYPES = {short: dtype for dtype, short in dtype_abbrs.items()}


@dataclass
class Given:
    """A result of an operator that is not here. Sizes and strides are as the log has them: `s72, 8` or `4*s72, 1`."""

    name: str
    operator: str
    dtype: torch.dtype
    sizes: str
    strides: str


def sentence(name: str, operator: str, dtype: torch.dtype, sizes: Sequence[int]) -> str:
    shown = str(dtype).removeprefix("torch.")
    return f"{operator} is not here: what it gave is the input {name}, {shown}{list(sizes)}"


def numbers(text: str, symbols: dict[str, int]) -> tuple[int, ...]:
    """Returns the sizes of a list of numbers, symbols and products of them. Raises ValueError for anything else."""
    words = [part.strip() for part in text.split(",") if part.strip()]
    factors = [[symbols.get(factor, factor) for factor in word.split("*")] for word in words]
    return tuple(math.prod(map(int, each)) for each in factors)


def symbols_of(annotated: str, names: Sequence[str], args: Sequence[Any]) -> dict[str, int]:
    """Returns the symbols of sizes with the numbers that the arguments `args`, whose names are `names`, give them."""
    given = dict(zip(names, args))
    return {symbol: given[name] for name, symbol in SYMBOL.findall(annotated) if isinstance(given.get(name), int)}


def annotations(text: str) -> dict[str, tuple[torch.dtype, str, str]]:
    """Returns dtype, sizes and strides of the tensors in the source of a graph, by their names."""
    found = GIVEN.findall(text)
    return {name: (DTYPES[dtype], sizes, strides) for name, dtype, sizes, strides in found if dtype in DTYPES}


def operator_of(call: ast.AST) -> str:
    """Returns engine::attend for a call of an operator that is not here, or of one that is given such an operator to
    call; an empty text for anything else."""
    for found in CALLED.finditer(ast.unparse(call)) if isinstance(call, ast.Call) else ():
        if not is_registered(*found.groups()):
            return "::".join(found.groups())
    return ""


def forward_of(tree: ast.Module) -> ast.FunctionDef | None:
    """Returns the method `forward` of the one class in the program; None where there are several, or none."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = classes[0].body if len(classes) == 1 else []
    return next((each for each in methods if isinstance(each, ast.FunctionDef) and each.name == "forward"), None)


def assigned(statement: ast.stmt) -> str:
    """Returns the name that a statement gives a value; an empty text for another kind of statement."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def part_of(statement: ast.stmt, wholes: dict[str, str]) -> str:
    """Returns the name in `wholes` of which the statement takes a part: `two` of `getitem = two[0]`."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and value.value.id in wholes:
        return value.value.id
    return ""


def taken_out(forward: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Takes the calls of operators that are not here out of the method. Yields the names of their results with the
    operator, those of results that are taken apart in place of the whole."""
    wholes: dict[str, str] = {}
    kept: list[ast.stmt] = []
    parted: set[str] = set()
    names: dict[str, str] = {}
    for statement in forward.body:
        value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
        name = assigned(statement)
        if value is not None and (operator := operator_of(value)):
            if not name:
                raise refusal(operator, True)  # it writes to what it is given
            wholes[name] = names[name] = operator
        elif name and (whole := part_of(statement, wholes)):
            parted.add(whole)
            names[name] = wholes[whole]
        else:
            kept.append(statement)
    forward.body = kept
    read = {node.id for node in ast.walk(forward) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    yield from ((name, operator) for name, operator in names.items() if name in read and name not in parted)


def without_absent_calls(tree: ast.Module, annotated: str) -> list[Given]:
    """Changes a program that torch.compile left behind: each result of an operator that is not here becomes a further
    parameter of its module. `annotated` is the source of the same graph, in which values have their dtypes and sizes.
    Raises Refused where it does not say what such an operator gave."""
    forward = forward_of(tree)
    if forward is None:
        return []
    known = annotations(annotated)
    found = []
    for name, operator in taken_out(forward):
        if name not in known:
            raise refusal(operator, True)
        forward.args.args.append(ast.copy_location(ast.arg(name), forward))
        found.append(Given(name, operator, *known[name]))
    return found
