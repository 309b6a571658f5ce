"""A .pt2 file of torch.export."""

import contextlib
import zipfile
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export.graph_signature import InputKind
from torch.export._tree_utils import reorder_kwargs

from loaded import Loaded
from refused import Refused
from stand_ins import drawn_like, stand_ins, without_stand_ins
from unregistered import refuse_unregistered


def read(path: str, seed: int, inputs: str | None = None) -> Loaded:
    """`inputs` names a file of inputs that are taken in the place of its own."""
    program, absent = loaded_from(path)
    loaded = Loaded(flat_module(program), (), names=input_names(program))
    loaded.dynamic = dynamic_dimensions(program)
    take_inputs(loaded, program, seed, inputs)
    without_stand_ins(loaded, absent)
    return loaded


def loaded_from(path: str) -> tuple[Any, set[str]]:
    """Returns the program, and the operators that it calls and that are not here. Raises Refused."""
    texts = texts_inside(path)
    with stand_ins(texts) as absent:
        try:
            return torch.export.load(path), absent
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            raised = Refused(f"torch.export.load cannot read it: {type(error).__name__}: {text}")
            raised.__cause__ = error
    refuse_unregistered(texts)  # torch.export.load only logs their names
    raise raised


def take_inputs(loaded: Loaded, program: Any, seed: int, inputs: str | None) -> None:
    """Gives the program its arguments: those in the file `inputs`, its own examples, or drawn ones."""
    if inputs:
        try:
            loaded.args, loaded.data = given_inputs(program, inputs), inputs
            return
        except Refused as refused:
            loaded.only_traced = str(refused)
    if program.example_inputs is not None:
        args, kwargs = program.example_inputs
        in_order = reorder_kwargs(kwargs, program.call_spec.in_spec)
        loaded.args, loaded.data = tuple(pytree.tree_leaves((args, in_order))), "the example inputs inside"
    else:
        loaded.args = drawn_inputs(program, seed)
        loaded.data = f"drawn from the shapes inside (seed {seed}), as it has no example inputs"


def given_inputs(program: Any, path: str) -> tuple[Any, ...]:
    """The leaves of what was saved: arguments in order, by name, or both. Raises Refused for what is none."""
    names = input_names(program)
    try:
        saved = torch.load(path, weights_only=True)
        if isinstance(saved, dict) and set(saved) == set(names):
            return tuple(saved[name] for name in names)
        args, kwargs = arguments_of(saved)
        leaves = tuple(pytree.tree_leaves((args, reorder_kwargs(kwargs, program.call_spec.in_spec))))
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        raise Refused(f"{path}: cannot be taken for its arguments: {type(error).__name__}: {text}") from error
    if len(leaves) != len(names):
        raise Refused(f"{path}: has {len(leaves)} values, and the program takes {len(names)}")
    return leaves


def arguments_of(saved: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(saved, dict):
        return (), saved
    if not isinstance(saved, (list, tuple)):
        return (saved,), {}
    if len(saved) == 2 and isinstance(saved[0], (list, tuple)) and isinstance(saved[1], dict):
        return tuple(saved[0]), saved[1]
    return tuple(saved), {}


def flat_module(program: Any) -> torch.fx.GraphModule:
    """Returns its graph as a module of the leaves of its arguments, one by one, that returns those of its result."""
    module: torch.fx.GraphModule = program.module(check_guards=False)
    module._forward_pre_hooks.clear()  # one that compares sizes with symbols: nothing that can be traced
    module.graph.set_codegen(torch.fx.graph.CodeGen())
    module.recompile()
    return module


def texts_inside(path: str) -> list[str]:
    texts: list[str] = []
    with contextlib.suppress(OSError, zipfile.BadZipFile, KeyError), zipfile.ZipFile(path) as archive:
        texts += [archive.read(name).decode(errors="replace") for name in archive.namelist() if name.endswith(".json")]
    return texts


def input_names(program: Any) -> list[str]:
    """Returns the names of the arguments, of those too that were exported as constants: graph_signature.user_inputs
    has their values in the place of names."""
    return [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]


def placeholders(program: Any) -> list[Any]:
    wanted = set(input_names(program))
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
    values = [node.meta.get("val") for node in placeholders(program)]
    return tuple(drawn_like(value) if isinstance(value, torch.Tensor) else value for value in values)
