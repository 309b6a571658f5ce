"""Source text of TorchScript for a graph of torch.fx calls: `y = torch.ops.fx.tensor("...", x, 1)`."""

from typing import Any

import torch
from torch.fx.node import Node

import fx_call
from refused import Refused


def quoted(text: str) -> str:
    """Returns a text of printable ASCII as a literal."""
    if not (text.isascii() and text.isprintable()):
        raise Refused(f"has a text that TorchScript cannot hold: {text[:60]!a}")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Repro(torch.nn.Module):
    """Holds the attributes of a program."""


def compiled(source: str, attributes: dict[str, torch.Tensor] | None = None) -> Any:
    """Returns a torch.jit.ScriptModule of its own type, as two of one type cannot have a forward each."""
    holder = Repro()
    for name, tensor in (attributes or {}).items():
        holder.register_buffer(name, tensor.detach().clone())
    script = torch.jit._recursive.create_script_module(holder, lambda _: [], share_types=False, is_tracing=True)
    script.define(source)
    return script


def index_of(value: Any, name: str) -> int | None:
    """Returns the position of a named tuple's element; None where the value has none of that name."""
    part = getattr(value, name, None) if isinstance(value, tuple) else None
    return next((i for i, each in enumerate(value) if each is part), None) if part is not None else None


class Source:
    """The lines of forward. `words` are the identifiers of nodes, `values` what the nodes gave."""

    def __init__(self, words: dict[Node, str], values: dict[Node, Any]) -> None:
        self.words, self.values = words, values
        self.places: dict[Node, tuple[Node, list[Any]]] = {}  # of lists in a nested result: whose, and where in it
        self.lines: list[str] = []

    def operand(self, value: Any) -> str:
        if isinstance(value, Node):
            if not isinstance(self.values[value], (torch.Tensor, list, tuple, bool, int, float)):
                kind = type(self.values[value]).__name__
                raise Refused(f"cannot be converted: {value.name} is a {kind}, which no graph of calls can hold")
            if fx_call.parts_of(self.values[value]) or value in self.places:
                raise Refused(f"cannot be converted: {value.name}, a nested result, is used as a whole")
            return self.words[value]
        return quoted(value) if isinstance(value, str) else repr(value)

    def call(self, node: Node, kind: str, text: str, operands: list[Any]) -> None:
        words = ", ".join([quoted(text), *map(self.operand, operands)])
        gives = "" if kind == "effect_" else f"{self.words[node]} = "
        self.lines.append(f"{gives}torch.ops.fx.{kind}({words})")

    def part(self, node: Node) -> tuple[bool, Any]:
        """Returns whether the node takes a part of a result by position, name or key, and that part. Writes down where
        it is, if it is a tensor."""
        if node.op != "call_function" or len(node.args) != 2 or not isinstance(node.args[0], Node):
            return False, None
        whole, key = self.values.get(node.args[0]), node.args[1]
        if not isinstance(whole, (list, tuple, dict)) or isinstance(whole, torch.Size):
            return False, None
        name = getattr(node.target, "__name__", "")
        if name == "getattr" and isinstance(key, str):
            key = index_of(whole, key)
        elif name != "getitem":
            return False, None
        root, path = self.places.get(node.args[0], (node.args[0], []))
        if isinstance(key, slice) and not path and fx_call.parts_of(whole) is None:
            return True, self.written(node, list(whole[key]), f"{self.words[root]}[{self.of_slice(key)}]")
        if not isinstance(key, (int, str)):
            return False, None
        if isinstance(key, int) and key < 0 and not isinstance(whole, dict):
            key += len(whole)
        part, path = fx_call.part_at(whole, [key]), [*path, key]
        if isinstance(part, torch.Tensor):
            place = fx_call.paths_in(self.values[root]).index(path)
            return True, self.written(node, part, f"{self.words[root]}[{place}]")
        self.places[node] = root, path
        return True, part

    def of_slice(self, key: slice) -> str:
        parts = (key.start, key.stop, key.step)
        if not all(part is None or isinstance(part, int) for part in parts):
            raise Refused("takes a part of a list that its data decides")
        return ":".join("" if part is None else str(part) for part in parts)

    def written(self, node: Node, value: Any, text: str) -> Any:
        self.lines.append(f"{self.words[node]} = {text}")
        return value

    def text(self, arguments: list[str], results: list[str], alone: bool) -> str:
        """Returns forward. `alone`: the one result is returned itself, not as a tuple."""
        given = results[0] if alone else f"({''.join(result + ', ' for result in results)})"
        body = [*self.lines, f"return {given}"]
        return f"def forward({', '.join(['self', *arguments])}):\n" + "".join(f"  {line}\n" for line in body)
