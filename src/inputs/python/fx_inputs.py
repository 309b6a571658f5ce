"""The inputs of a program in the FX dialect are tensors; those that are attributes of the module are inputs too, or
held by the program as its own."""

import copy
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.fx.node import Node

from loaded import Loaded
from refused import Refused

NUMBERS = (bool, int, float)
PLAIN = (*NUMBERS, str, torch.dtype, torch.device, torch.layout, torch.memory_format)


@dataclass
class Input:
    """An argument of the program: `place` is its position in a call of the module, or the name of an attribute."""

    node: Node
    name: str
    place: int | str
    tensor: torch.Tensor


def tensors_in(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def is_plain(value: Any) -> bool:
    """True for what is part of the program: numbers, names, and lists of them, sizes among them."""
    if isinstance(value, (list, tuple)):
        return all(is_plain(part) for part in value)
    return value is None or isinstance(value, PLAIN)


class Inputs:
    """The inputs of a graph in `all`, and in `held` its attributes where those are no inputs; in `bound` the values of
    arguments that are no tensors, with a sentence each in `notes`. Nodes that read one attribute become one node.
    Raises Refused for arguments that no program can have."""

    def __init__(self, loaded: Loaded, graph: torch.fx.Graph, holds: bool) -> None:
        self.loaded = loaded
        self.bound: dict[Node, Any] = {}
        self.notes: list[str] = []
        nodes = list(graph.nodes)
        placeholders = [node for node in nodes if node.op == "placeholder"]
        if len(loaded.args) > len(placeholders):
            raise Refused(f"takes {len(placeholders)} arguments, and is given {len(loaded.args)}")
        self.all, self.held = self.arguments(placeholders), self.attributes(graph)
        if not holds or not self.all:
            self.all, self.held = self.all + self.held, []

    def nodes(self) -> list[Node]:
        return [given.node for given in [*self.all, *self.held]]

    def arguments(self, placeholders: list[Node]) -> list[Input]:
        found, names = [], self.loaded.names
        for place, node in enumerate(placeholders):
            value = self.given(place, node)
            if isinstance(value, torch.Tensor):
                found.append(Input(node, names[place] if place < len(names) else node.name, place, value))
            else:
                self.bind(node, value)
        return found

    def given(self, place: int, node: Node) -> Any:
        if place < len(self.loaded.args):
            return self.loaded.args[place]
        if node.args:
            return node.args[0]  # its default
        raise Refused(f"is given no value for {node.target}")

    def bind(self, node: Node, value: Any) -> None:
        if not is_plain(value):
            kind = type(value).__name__
            raise Refused(f"is given {node.target}, a {kind}: an argument has to be a tensor, a number or a name")
        self.bound[node] = value
        if value is not None:
            self.notes.append(f"{node.target} is {value!r} in every call, a constant of the program")

    def attributes(self, graph: torch.fx.Graph) -> list[Input]:
        first: dict[str, Input] = {}
        for node in list(graph.nodes):
            if node.op != "get_attr":
                continue
            value = attrgetter(node.target)(self.loaded.module)
            if not isinstance(value, torch.Tensor):
                continue
            each = Input(node, node.target.replace(".", "_"), node.target, value)
            known = first.setdefault(node.target, each)
            if known is not each:
                node.replace_all_uses_with(known.node)
                graph.erase_node(node)
        return list(first.values())


class Original:
    """The module as a function of the inputs of the program, attributes among them, which returns the tensors of its
    result. The module itself is not changed. `differentiates`: it has levels of torch.func that want gradients enabled
    around them."""

    def __init__(self, loaded: Loaded, inputs: list[Input], differentiates: bool) -> None:
        self.loaded, self.inputs, self.differentiates = loaded, inputs, differentiates

    def __call__(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        module, args = copy.deepcopy(self.loaded.module), list(self.loaded.args)
        for given, tensor in zip(self.inputs, tensors):
            if isinstance(given.place, int):
                args[given.place] = tensor
                continue
            path, _, name = given.place.rpartition(".")
            owner = module.get_submodule(path)
            owner._parameters.pop(name, None)
            owner._buffers.pop(name, None)
            object.__setattr__(owner, name, tensor)
        with torch.set_grad_enabled(self.differentiates or torch.is_grad_enabled()):
            return tuple(tensors_in(module(*args)))
