"""A .pt2 file of torch.export."""

import contextlib
import re
import zipfile
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export._tree_utils import reorder_kwargs

from loaded import Loaded
from refused import Refused


def read(path: str, seed: int) -> Loaded:
    try:
        program = torch.export.load(path)
    except Exception as error:
        if name := unknown_operator(path):
            raise Refused(
                f"calls {name}, an operator that PyTorch does not have: where a shared library registers it, name that "
                "with --load-library FILE.so; one that is registered from Python cannot be called here"
            ) from error
        text = " ".join(str(error).split())[:300]
        raise Refused(f"torch.export.load cannot read it: {type(error).__name__}: {text}") from error
    loaded = Loaded(flat_module(program), (), names=list(program.graph_signature.user_inputs))
    loaded.dynamic = dynamic_dimensions(program)
    if program.example_inputs is not None:
        args, kwargs = program.example_inputs
        in_order = reorder_kwargs(kwargs, program.call_spec.in_spec)
        loaded.args, loaded.data = tuple(pytree.tree_leaves((args, in_order))), "the example inputs inside"
    else:
        loaded.args = drawn_inputs(program, seed)
        loaded.data = f"drawn from the shapes inside (seed {seed}), as it has no example inputs"
    return loaded


def flat_module(program: Any) -> torch.fx.GraphModule:
    """Returns its graph as a module that takes the leaves of its arguments one by one, and returns those of its result."""
    module: torch.fx.GraphModule = program.module(check_guards=False)
    module._forward_pre_hooks.clear()  # one that compares sizes with symbols: nothing that can be traced
    module.graph.set_codegen(torch.fx.graph.CodeGen())
    module.recompile()
    return module


def unknown_operator(path: str) -> str:
    """Returns the first operator called that is not registered, or "": torch.export.load only logs its name."""
    targets: list[str] = []
    with contextlib.suppress(OSError, zipfile.BadZipFile, KeyError), zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                targets += re.findall(r'"torch\.ops\.(\w+\.\w+)', archive.read(name).decode(errors="replace"))
    for target in dict.fromkeys(targets):
        namespace, _, operator = target.partition(".")
        if not hasattr(getattr(torch.ops, namespace), operator):
            return f"{namespace}::{operator}"
    return ""


def placeholders(program: Any) -> list[Any]:
    wanted = set(program.graph_signature.user_inputs)
    return [node for node in program.graph.nodes if node.op == "placeholder" and node.name in wanted]


def dynamic_dimensions(program: Any) -> list[str]:
    """`x: dimension 0 (s0, 2 to 1024)`."""
    found = []
    for node in placeholders(program):
        value = node.meta.get("val")
        for i, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if isinstance(size, torch.SymInt):
                symbol = size.node.expr
                bounds = program.range_constraints.get(symbol)
                text = f", {bounds.lower} to {bounds.upper}" if bounds is not None else ""
                found.append(f"{node.name}: dimension {i} ({symbol}{text})")
    return found


def drawn_inputs(program: Any, seed: int) -> tuple[Any, ...]:
    """From what the graph says of each input; where a size is open, the one it was exported with."""
    torch.manual_seed(seed)
    leaves = []
    for node in placeholders(program):
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            sizes = [size if isinstance(size, int) else int(size.node.hint or 2) for size in value.shape]
            dtype = value.dtype
            draw = torch.randn if dtype.is_floating_point or dtype.is_complex else torch.ones
            leaves.append(draw(sizes, dtype=dtype))
        else:
            leaves.append(value)
    return tuple(leaves)
