"""Calls of torch.fx inside a TorchScript graph: how a program in the FX dialect is held, saved and sent.

A call of anything that Python can name is a node `fx::KIND(str call, ...)`. `call` is JSON: what is called, and where
its operands stand among the arguments. The operands follow: tensors, lists of tensors, and plain numbers and texts,
which are constants of the graph and can be edited there. KIND says what the call gives:

    tensor   one Tensor           tensors  a list or tuple of Tensors, as Tensor[]
    int, float, bool              effect   nothing: it is called for what it writes

and ends in "_" where the call was seen to write to what it was given (`effect` always does). TorchScript may leave out
a call without "_" that nothing reads, and no other.

JSON: {"f": "torch.cat", "a": [FORM...], "k": {NAME: FORM}}, with "m" for the name of a method in the place of "f". A
FORM is {"%": N} (operand N), a list, or one of {"tuple": [...]}, {"dict": [[KEY, VALUE]...]}, {"slice": [start, stop,
step]}, {"torch": "float32"} (a dtype, layout or memory format), {"device": "cpu"}, {"float": "inf"}, {"int": "..."},
{"bool": 0},
{"complex": [REAL, IMAGINARY]}, {"ellipsis": 1}, {"none": 1}, {"text": "\\u00e9"} (one that is not printable ASCII,
which TorchScript does not keep), {"graph": GRAPH} (one that a higher-order operator is given).

GRAPH: {"takes": N, "calls": [CALL...], "gives": FORM}. A CALL is JSON like that of a node, with "kind", the KIND of
what it gives, where that is known. {"$": N} stands for a value of the graph: what it takes comes first, then what each
call gives. The numbers and texts of its calls are operands of the node.

Two more entries are there only where they say something: "in", the modes that the call runs under (fx_modes.py), and
"parts", where the tensors of a nested result are: [[0], [1, 0]] for (a, (b, None)).
"""

import builtins
import contextlib
import importlib
import json
import math
import pkgutil
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

import fx_func
import fx_groups
import fx_modes
import fx_numpy

KINDS = {"tensor": "Tensor", "tensors": "Tensor[]", "int": "int", "float": "float", "bool": "bool"}


class NoForm(Exception):
    """Raised for a call that has no form here; the message says what has none."""


def define_calls() -> torch.library.Library:
    """Makes the kinds known to TorchScript in this process. The library that is returned has to live as long."""
    library = torch.library.Library("fx", "DEF")
    for kind, gives in KINDS.items():
        library.define(f"{kind}(str call, ...) -> {gives}")
        library.define(f"{kind}_(str call, ...) -> {gives}", alias_analysis="CONSERVATIVE")
    library.define("effect_(str call, ...) -> ()", alias_analysis="CONSERVATIVE")
    return library


LIBRARY = define_calls()


def name_of(target: Any) -> str:
    """The dotted name under which importing finds a function again. Raises NoForm where there is none."""
    if isinstance(target, torch._ops.OpOverload):
        return f"torch.ops.{target}"
    if isinstance(target, torch._ops.OpOverloadPacket):
        return f"torch.ops.{target}"
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"torch.ops.higher_order.{target.name()}"
    if name := fx_numpy.name_of(target):
        return f"fx_numpy.{name}"
    name = getattr(target, "__name__", "")
    for place in ("torch", "torch.nn.functional", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special"):
        if getattr(resolve_or_none(place), name, None) is target:
            return f"{place}.{name}"
    for module in (getattr(target, "__module__", None), "torch._C._nn", "torch._C", "torch._C._autograd"):
        if module in ("_operator", "operator"):
            module = "operator"
        for own_name in dict.fromkeys((getattr(target, "__qualname__", name), name)):
            if module and resolve_or_none(f"{module}.{own_name}") is target:
                return f"{module}.{own_name}"
    raise NoForm(f"{name or type(target).__name__}, which cannot be imported by a name")


def resolve_or_none(name: str) -> Any:
    try:
        return resolve(name)
    except (ImportError, AttributeError):
        return None


def load_higher_order(name: str) -> None:
    """Imports what registers a higher-order operator: PyTorch imports most of them where they are first called."""
    for module in pkgutil.iter_modules(torch._higher_order_ops.__path__):
        if hasattr(torch.ops.higher_order, name):
            return
        with contextlib.suppress(ImportError):
            importlib.import_module(f"torch._higher_order_ops.{module.name}")


def resolve(name: str) -> Any:
    """Returns what a dotted name stands for. Raises ImportError or AttributeError."""
    if name.startswith("torch.ops."):
        if name.startswith("torch.ops.higher_order."):
            load_higher_order(name.split(".")[3])
        if name.startswith(f"torch.ops.{fx_groups.NAMESPACE}."):
            fx_groups.join()
        place: Any = torch.ops
        for word in name.split(".")[2:]:
            place = getattr(place, word)
        return place
    words = name.split(".")
    for size in range(len(words), 0, -1):
        try:
            place = importlib.import_module(".".join(words[:size]))
        except ModuleNotFoundError:
            continue
        for word in words[size:]:
            place = getattr(place, word)
        return place
    return getattr(builtins, name)


class Encoder:
    """Takes the arguments of a call apart: forms, and the operands that they name. `values` are the numbers of values
    in a graph that is an argument itself."""

    def __init__(self, operands: list[Any] | None = None, values: dict[Node, int] | None = None) -> None:
        self.operands: list[Any] = [] if operands is None else operands
        self.values = values or {}

    def operand(self, value: Any) -> Any:
        for place, known in enumerate(self.operands):
            if known is value and isinstance(value, Node):
                return {"%": place}
        self.operands.append(value)
        return {"%": len(self.operands) - 1}

    def form(self, value: Any) -> Any:
        if value is None:
            return {"none": 1}
        if isinstance(value, Node) and value in self.values:
            return {"$": self.values[value]}
        if isinstance(value, Node) and "graph" in value.meta:
            return {"graph": self.graph(value.meta["graph"])}
        if isinstance(value, str) and not (value.isascii() and value.isprintable()):
            return {"text": value}
        if isinstance(value, (Node, bool, str)):
            return self.operand(value)
        if isinstance(value, int):
            return self.operand(value) if -(2**63) <= value < 2**63 else {"int": str(value)}
        if isinstance(value, float):
            # TorchScript saves a whole number of so many digits without its point, which makes it an int, and takes
            # -0.0 and 0.0 for one constant.
            is_odd = abs(value) >= 1e10 and value.is_integer() or value == 0 and math.copysign(1, value) < 0
            stays = math.isfinite(value) and not is_odd
            return self.operand(value) if stays else {"float": repr(value)}
        if isinstance(value, complex):
            return {"complex": [str(value.real), str(value.imag)]}
        if isinstance(value, list):
            return [self.form(part) for part in value]
        if isinstance(value, tuple):
            if type(value) not in (tuple, torch.Size) and not hasattr(value, "_fields"):
                raise NoForm(f"an argument of type {type(value).__name__}")
            return {"tuple": [self.form(part) for part in value]}
        if isinstance(value, dict):
            return {"dict": [[self.form(key), self.form(part)] for key, part in value.items()]}
        if isinstance(value, slice):
            return {"slice": [self.form(part) for part in (value.start, value.stop, value.step)]}
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return {"torch": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if value is ...:
            return {"ellipsis": 1}
        if isinstance(value, GraphModule):
            return {"graph": self.graph(value.graph)}
        raise NoForm(f"an argument of type {type(value).__name__}")

    def graph(self, graph: Graph) -> Any:
        """The GRAPH of a graph whose attributes are bound: it names its placeholders and its calls alone."""
        takes = graph.find_nodes(op="placeholder")
        inner = Encoder(self.operands, {node: number for number, node in enumerate(takes)})
        calls = []
        for node in graph.nodes:
            if node.op.startswith("call_"):
                calls.append(inner.call(node, node.meta.get("kind")))
                inner.values[node] = len(inner.values)
        for given in graph.output_node().all_input_nodes:
            if given not in inner.values:
                raise NoForm(f"a graph that gives its attribute {given.target}")
        return {"takes": len(takes), "calls": calls, "gives": inner.form(graph.output_node().args[0])}

    def call(self, node: Node, kind: str | None = None) -> dict[str, Any]:
        if node.op == "call_method":
            call: dict[str, Any] = {"m": node.target}
        elif node.op == "call_function":
            call = {"f": name_of(node.target)}
        else:
            raise NoForm(f"a node of the kind {node.op}")
        call["a"] = [self.form(argument) for argument in node.args]
        if node.kwargs:
            call["k"] = {name: self.form(argument) for name, argument in node.kwargs.items()}
        more = {"in": fx_modes.modes_of(node), "parts": node.meta.get("parts"), "kind": kind}
        return call | {key: said for key, said in more.items() if said}


def encode(node: Node) -> tuple[str, list[Any]]:
    """The call of a node as JSON, and its operands. Raises NoForm."""
    encoder = Encoder()
    return json.dumps(encoder.call(node), separators=(",", ":")), encoder.operands


def value_of(form: Any, operands: list[Any], values: list[Any]) -> Any:
    """The argument that a FORM stands for; `values` are those of the graph that it stands in."""
    if isinstance(form, list):
        return [value_of(part, operands, values) for part in form]
    ((kind, content),) = form.items()
    if kind == "%":
        return operands[content]
    if kind == "$":
        return values[content]
    if kind == "tuple":
        return tuple(value_of(part, operands, values) for part in content)
    if kind == "dict":
        return {value_of(key, operands, values): value_of(part, operands, values) for key, part in content}
    if kind == "slice":
        return slice(*(value_of(part, operands, values) for part in content))
    if kind == "torch":
        return getattr(torch, content)
    if kind == "graph":
        return module_of(content, operands)
    return {
        "device": torch.device,
        "float": float,
        "int": int,
        "bool": bool,
        "text": str,
        "complex": lambda parts: complex(float(parts[0]), float(parts[1])),
        "ellipsis": lambda _: ...,
        "none": lambda _: None,
    }[kind](content)


def module_of(form: Any, operands: list[Any]) -> GraphModule:
    """The module that a GRAPH stands for, without the calls that switch modes. Raises ValueError for one that reads
    values of the program around it."""
    plain = [None if isinstance(operand, (Node, torch.Tensor)) else operand for operand in operands]
    root, graph = torch.nn.Module(), Graph()
    values = [graph.placeholder(f"argument_{place}") for place in range(form["takes"])]
    for call in form["calls"]:
        values.append(Call(call, plain, values).add_to(graph, root))
    graph.output(value_of(form["gives"], plain, values))
    graph.lint()
    return GraphModule(root, graph)


class Call:
    """A call, taken out of its JSON: `target` is a function, or the name of a method."""

    def __init__(self, call: Any, operands: list[Any], values: list[Any] | None = None) -> None:
        call = json.loads(call) if isinstance(call, str) else call
        self.is_method = "m" in call
        self.target = call["m"] if self.is_method else resolve(call["f"])
        self.args = tuple(value_of(form, operands, values or []) for form in call["a"])
        self.kwargs = {name: value_of(form, operands, values or []) for name, form in call.get("k", {}).items()}
        self.modes = call.get("in", [])
        self.parts = call.get("parts")

    @property
    def is_hook(self) -> bool:
        """True if it hooks a tensor, which it gives itself: that can be done only where gradients are wanted."""
        return getattr(self.target, "__name__", "") == "register_hook"

    @property
    def detaches(self) -> bool:
        """True if what it gives has no gradients, whatever its operands have."""
        name = self.target if self.is_method else getattr(self.target, "__name__", "")
        return "detach" in name or {"grad": False} in self.modes

    def run(self) -> Any:
        """Calls it, once. Returns what it gives, the tensors alone where it has parts."""
        gradients = [{"grad": True}] if self.target in fx_func.WITH_GRADIENTS else []
        with fx_modes.entered(self.modes + gradients):
            args, kwargs = pytree.tree_map_only(GraphModule, fx_modes.switching, (self.args, self.kwargs))
            if self.is_method:
                result = getattr(args[0], self.target)(*args[1:], **kwargs)
            else:
                result = self.target(*args, **kwargs)
        return result if self.parts is None else [part_at(result, path) for path in self.parts]

    def add_to(self, graph: Graph, root: torch.nn.Module) -> Node:
        """Adds the call to a graph; graphs among its arguments become attributes of `root`."""

        def held(module: GraphModule) -> Node:
            name = f"body_{sum(1 for _ in root.children())}"
            root.add_module(name, module)
            node = graph.get_attr(name)
            node.meta["graph"] = module.graph
            return node

        args, kwargs = pytree.tree_map_only(GraphModule, held, (self.args, self.kwargs))
        made = graph.create_node("call_method" if self.is_method else "call_function", self.target, args, kwargs)
        made.meta["modes"] = self.modes
        return made


def part_at(value: Any, path: list[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


def paths_in(value: Any) -> list[list[Any]]:
    """Where the tensors of a result are."""
    if isinstance(value, torch.Tensor):
        return [[]]
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    return [[key, *path] for key, part in pairs for path in paths_in(part)]


def parts_of(result: Any) -> list[list[Any]] | None:
    """The "parts" of a call that gave this; None for one tensor, a flat list of them, and what has no tensors."""
    paths = paths_in(result)
    flat = isinstance(result, (list, tuple)) and len(result) == len(paths)
    if not paths or paths == [[]] or flat and all(len(path) == 1 for path in paths):
        return None
    if not all(type(key) in (int, str) for path in paths for key in path):
        raise NoForm("a result with keys that are no texts")
    return paths


def kind_of(result: Any) -> str:
    """The kind of a call that gave this. Raises NoForm."""
    if isinstance(result, torch.Tensor):
        return "tensor"
    if paths_in(result):
        return "tensors"
    if result is None or isinstance(result, (list, tuple)) and not result:
        return "effect_"
    for kind, known in (("bool", bool), ("int", int), ("float", float)):
        if isinstance(result, known):
            return kind
    raise NoForm(f"a result of type {type(result).__name__}")
