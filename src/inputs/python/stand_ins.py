"""Operators of a package that is not here, in a .pt2 of torch.export. It keeps dtype and sizes of each value, so that
what such an operator gave becomes an input, drawn as others are, and the call is gone.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.fx.node import Node

from absent import sentence
from loaded import Loaded
from unregistered import CALLED, is_registered, refusal

# Types of an operator's schema by the names that torch.export gives arguments in its JSON.
TYPES = {
    "as_tensor": "Tensor?", "as_tensors": "Tensor[]", "as_optional_tensors": "Tensor?[]", "as_none": "Tensor?",
    "as_int": "SymInt", "as_sym_int": "SymInt", "as_ints": "SymInt[]", "as_sym_ints": "SymInt[]",
    "as_float": "float", "as_sym_float": "float", "as_floats": "float[]", "as_bool": "bool", "as_sym_bool": "bool",
    "as_bools": "bool[]", "as_string": "str", "as_scalar_type": "ScalarType", "as_memory_format": "MemoryFormat",
    "as_layout": "Layout", "as_device": "Device",
}  # fmt: skip



def nodes_in(text: str) -> list[dict[str, Any]]:
    """Returns the nodes of a graph of torch.export, in JSON; none of anything else."""
    try:
        nodes: list[dict[str, Any]] = json.loads(text)["graph_module"]["graph"]["nodes"]
        return nodes
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def schema_of(calls: list[dict[str, Any]]) -> str:
    """Returns a schema for one operator with which all of `calls` can be read. Raises KeyError for an argument that it
    has no type for."""
    positional: dict[str, str] = {}
    keywords: dict[str, str] = {}
    for argument in [argument for call in calls for argument in call["inputs"]]:
        of_kind = keywords if argument.get("kind") == 2 else positional
        ((form, _),) = argument["arg"].items()
        if form != "as_none" or argument["name"] not in of_kind:
            of_kind[argument["name"]] = TYPES[form]
    arguments = [f"{kind.rstrip('?')}? {name}" for name, kind in positional.items()]
    arguments += ["*", *(f"{kind.rstrip('?')}? {name}" for name, kind in keywords.items())] if keywords else []
    results = ["Tensor[]" if "as_tensors" in result else "Tensor" for result in calls[0]["outputs"]]
    return f"({', '.join(arguments)}) -> ({', '.join(results)})"


@contextlib.contextmanager
def stand_ins(texts: Iterable[str]) -> Iterator[set[str]]:
    """While it is open, operators are registered that a .pt2 calls and that are not here, so that it loads. They are
    not to be run. Gives their names, and those of operators that others are given to call: engine.attend."""
    calls: dict[str, list[dict[str, Any]]] = {}
    for call in [node for text in texts for node in nodes_in(text)]:
        for given in [argument["arg"].get("as_operator", "") for argument in call["inputs"]]:
            if (found := CALLED.match(given)) and not is_registered(*found.groups()):
                calls.setdefault(given, [])
        if (found := CALLED.match(call["target"])) and not is_registered(*found.groups()):
            calls.setdefault(call["target"], []).append(call)
    with contextlib.ExitStack() as stack:
        for target, each in calls.items():
            namespace, name = target.removeprefix("torch.ops.").split(".", 1)
            if each:
                library = torch.library.Library(namespace, "FRAGMENT")
                stack.callback(library._destroy)
                library.define(name.removesuffix(".default") + schema_of(each))
        yield {operator_name(target) for target in calls}


def operator_name(called: Any) -> str:
    """Returns engine.attend for torch.ops.engine.attend.default."""
    return ".".join(str(called).removeprefix("torch.ops.").split(".")[:2])


def operator_of(node: Node, absent: set[str]) -> str:
    """Returns the one of these operators that a node calls, or gives another to call; an empty text without."""
    called = [node.target, *node.args] if node.op == "call_function" else []
    names = [operator_name(each) for each in called if isinstance(each, (str, torch._ops.OpOverload))]
    return next((name for name in names if name in absent), "")


def sizes_of(value: Any) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else int(size.node.hint or 2) for size in value.shape)


def drawn_like(value: torch.Tensor) -> torch.Tensor:
    if value.dtype.is_floating_point and value.dtype.itemsize == 1:
        return torch.randn(sizes_of(value)).to(value.dtype)
    draw = torch.randn if value.dtype.is_floating_point or value.dtype.is_complex else torch.ones
    return draw(sizes_of(value), dtype=value.dtype)


def results_of(node: Node, operator: str) -> list[Node]:
    """Returns the nodes that stand for the tensors of a call. Raises Refused where it is not said what they are."""
    parts = [node] if isinstance(node.meta.get("val"), torch.Tensor) else list(node.users)
    if not parts or not all(isinstance(part.meta.get("val"), torch.Tensor) for part in parts):
        raise refusal(operator, True)
    return parts


def without_stand_ins(loaded: Loaded, absent: set[str]) -> None:
    """Makes inputs, after the others, of what these operators gave. Raises Refused where that is not said."""
    graph, place = loaded.module.graph, len(loaded.args)
    last = next((node for node in reversed(graph.nodes) if node.op == "placeholder"), None)
    # From the last on, so that what only such operators read is no input.
    for node in reversed([node for node in graph.nodes if operator_of(node, absent)]):
        name = operator_of(node, absent).replace(".", "::")
        for result in [part for part in reversed(results_of(node, name)) if part.users]:
            with graph.inserting_after(last) if last else graph.inserting_before():
                result.replace_all_uses_with(graph.placeholder(f"{result.name}_given"))
            value = result.meta["val"]
            loaded.args = (*loaded.args[:place], drawn_like(value), *loaded.args[place:])
            loaded.names.insert(place, result.name)
            loaded.notes.append(sentence(result.name, name, value.dtype, sizes_of(value)))
        for unused in [*node.users, node]:
            graph.erase_node(unused)
    loaded.module.recompile()
