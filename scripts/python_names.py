"""Writes src/repro/templates/python_names.txt again: how Python's users call each aten operator, for repro.py.

    python_names.py > src/repro/templates/python_names.txt    (with the Python whose torch the repros are written for)

A name that is in none of the lists is called as torch.ops.aten.NAME.
"""

import inspect
import textwrap
import types

import torch
import torch.nn.functional as functional

# Written in Python, with the arguments of the operator.
WRAPPERS = {"atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "cdist", "chain_matmul", "einsum", "split"}


def is_generated(holder: object, name: str) -> bool:
    """Then its arguments are those of the operator."""
    return isinstance(getattr(holder, name, None), types.BuiltinFunctionType)


def is_functional(name: str) -> bool:
    return is_generated(torch._C._nn, name) and getattr(functional, name, None) is getattr(torch._C._nn, name)


def is_wrapper(name: str) -> bool:
    """True if a function of torch.nn.functional that is written in Python takes the arguments of the operator first,
    and after them nothing but whether it writes to its input."""
    function, packet = getattr(functional, name, None), getattr(torch.ops.aten, name)
    if not isinstance(function, types.FunctionType) or packet.overloads() != ["default", "out"]:
        return False
    wanted = [argument.name for argument in packet.default._schema.arguments][1:]
    taken = [parameter for parameter in inspect.signature(function).parameters][1:]
    return taken in (wanted, [*wanted, "inplace"])


def is_method(name: str) -> bool:
    return isinstance(getattr(torch.Tensor, name, None), types.MethodDescriptorType)


def main() -> None:
    operators = {name.partition(".")[0].removeprefix("aten::")
                 for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")}  # fmt: skip
    functions = {name for name in operators if is_generated(torch, name)} | WRAPPERS
    functionals = {name for name in operators - functions if is_functional(name) or is_wrapper(name)}
    methods = {name for name in operators - functions - functionals if is_method(name)}
    for title, names in (("torch.", functions), ("torch.nn.functional.", functionals), ("method", methods)):
        print(textwrap.fill(" ".join([title + ":", *sorted(names)]), 118, subsequent_indent="  "))


if __name__ == "__main__":
    main()
