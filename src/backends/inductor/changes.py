"""Changes of a program in torch.fx, each of which is a way in which a compiler may go wrong.

    eager = Noting(module)
    eager.run(*arguments)
    for change in changes_of(module, eager.dtypes): result = change.run(*arguments)

A result asks for no gradient. A call is left out, comes early or late (one that writes), reads what it has written
already, has an argument less or a switch turned, is another function, or gives values of another dtype: more or fewer
bits than eager has between two calls. A change raises when it is run where it does not fit.
"""

import copy
import dataclasses
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils import _pytree as pytree

import fx_effects
import fx_signatures
import wide

ROUNDED = (torch.bfloat16, torch.float16)
FLOATING = (*ROUNDED, torch.float32, torch.float64)
INTEGRAL = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
DTYPES = (torch.int64, torch.int32, torch.float32, torch.float64, *ROUNDED, torch.int16, torch.int8, torch.uint8)
"""In the order in which compilers are apt to compute in another than the program's."""

COPIES = ("clone", "contiguous", "detach", "alias", "copy")
MOST_ELEMENTS = 64  # of a call that is made element by element


Dtypes = dict[str, list[torch.dtype]]
"""Of the tensors that each call gives, by the name of its node."""


def truncated(x: Any, y: Any) -> Any:
    return torch.div(x, y, rounding_mode="trunc")


Function = Callable[..., Any]
OF_ONE: dict[str, list[tuple[str, Function]]] = {
    "sinh": [("(torch.exp(x) - torch.exp(-x)) / 2", lambda x: (torch.exp(x) - torch.exp(-x)) / 2)],
    "cosh": [("(torch.exp(x) + torch.exp(-x)) / 2", lambda x: (torch.exp(x) + torch.exp(-x)) / 2)],
    "expm1": [("torch.exp(x) - 1", lambda x: torch.exp(x) - 1)],
    "log1p": [("torch.log(1 + x)", lambda x: torch.log(1 + x))],
    "asinh": [("torch.log(x + torch.sqrt(x * x + 1))", lambda x: torch.log(x + torch.sqrt(x * x + 1)))],
    "round": [("torch.floor(x + 0.5)", lambda x: torch.floor(x + 0.5)), ("torch.trunc(x)", torch.trunc)],
    "floor": [("torch.trunc(x)", torch.trunc)],
    "ceil": [("torch.trunc(x)", torch.trunc)],
    "rsqrt": [("1 / torch.sqrt(x)", lambda x: 1 / torch.sqrt(x))],
    "gelu": [('F.gelu(x, approximate="tanh")', lambda x: torch.nn.functional.gelu(x, approximate="tanh"))],
}
"""For functions by name what a compiler, or a runtime's operator of a like name, computes in its place."""

QUOTIENTS: list[tuple[str, Function]] = [
    ('torch.div(x, y, rounding_mode="trunc")', truncated),
    ("torch.floor(x / y)", lambda x, y: torch.floor(x / y)),
]
REMAINDERS: list[tuple[str, Function]] = [
    ("torch.fmod(x, y)", torch.fmod),
    ("x - x // y * y", lambda x, y: x - torch.floor_divide(x, y) * y),
]
OF_TWO: dict[str, list[tuple[str, Function]]] = {
    "remainder": REMAINDERS,
    "mod": REMAINDERS,
    "fmod": [("torch.remainder(x, y)", torch.remainder)],
    "floor_divide": QUOTIENTS,
    "floordiv": QUOTIENTS,
    "maximum": [("torch.fmax(x, y)", torch.fmax)],
    "minimum": [("torch.fmin(x, y)", torch.fmin)],
    "truediv": [("x * (1 / y)", lambda x, y: x * (1 / y))],
    "div": [("x * (1 / y)", lambda x, y: x * (1 / y))],
}
"""The same for functions of two values."""


def elements_of_window(bound: dict[str, Any], dimensions: int) -> int:
    """Returns how many elements a pooling, whose arguments by name are `bound`, takes at once."""
    size = bound["kernel_size"]
    return int(size**dimensions) if isinstance(size, int) else math.prod(size)


OTHER_VALUES: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("avg_pool2d", "divisor_override"): functools.partial(elements_of_window, dimensions=2),
    ("avg_pool3d", "divisor_override"): functools.partial(elements_of_window, dimensions=3),
}
"""For an argument that is left at its default, by the names of function and argument, the value that it is mistaken
for."""


@dataclasses.dataclass(frozen=True)
class Change:
    kind: str
    """One of "detached", "left out", "before", "after", "sees itself", "without", "with", "divides by", "as", "in",
    "unwrapped"."""
    call: str  # the node that is changed; empty: all that this can be done to
    other: str = ""  # a node; the name of an argument, and its value; a function; a dtype
    run: Callable[..., Any] = dataclasses.field(default=lambda: None, compare=False)


def changes_of(module: GraphModule, dtypes: Dtypes) -> Iterator[Change]:
    """Those that say most come first. `dtypes` are those of a run of the module: see Noting."""
    calls = [node for node in module.graph.nodes if node.op in ("call_function", "call_method")]
    copies = [node for node in calls if fx_effects.called_name(node) in COPIES or fx_effects.has_effect(node)]
    for node in calls:
        if any(user.op == "output" for user in node.users):
            yield Change("detached", node.name, run=Detached(module, node.name).run)
    for node in copies:
        yield from left_out(module, node)
    for node in filter(fx_effects.has_effect, calls):
        yield from moved(module, node, calls)
        yield Change("sees itself", node.name, run=OneByOne(module, node.name).run)
    for node in calls:
        yield from other_arguments(module, node)
        yield from other_functions(module, node)
    names = [node.name for node in calls]
    for name in names:
        yield from other_dtypes(module, name, [name], dtypes)
    yield from other_dtypes(module, "", names, dtypes)
    for name in names:
        yield from other_dtypes(module, name, [name], dtypes, to_the_end=True)
    for node in calls:
        if node not in copies:
            yield from left_out(module, node)


def other_dtypes(
    module: GraphModule, call: str, names: list[str], dtypes: Dtypes, to_the_end: bool = False
) -> Iterator[Change]:
    """Each dtype that the results of these calls may have, of as many of them as may."""
    for dtype in DTYPES:
        fitting = {name for name in names if all(may_become(own, dtype) for own in dtypes[name])}
        if fitting:
            own = next(iter(dtypes.get(call, [])), dtype)
            unwrapped = own in INTEGRAL and dtype in INTEGRAL and own.itemsize < dtype.itemsize
            kind, said = ("unwrapped", str(own)) if unwrapped else ("in", str(dtype))
            yield Change(kind, call, said, Wider(module, fitting, dtype, dtypes, to_the_end=to_the_end).run)


def may_become(own: torch.dtype, dtype: torch.dtype) -> bool:
    """An integer may be computed as a floating number, not the other way around."""
    return own != dtype and (own in INTEGRAL or own in FLOATING and dtype in FLOATING)


def edited(module: GraphModule, edit: Callable[[dict[str, Node]], None]) -> Callable[..., Any]:
    """Runs a copy of the program that `edit`, given its nodes by name, has changed."""

    def run(*arguments: Any) -> Any:
        graph = copy.deepcopy(module.graph)
        edit({node.name: node for node in graph.nodes})
        graph.lint()
        return Interpreter(GraphModule(module, graph)).run(*arguments)

    return run


def left_out(module: GraphModule, node: Node) -> Iterator[Change]:
    """Its first argument takes the place of its result."""

    def edit(nodes: dict[str, Node]) -> None:
        left, first = nodes[node.name], nodes[node.args[0].name]  # type: ignore[union-attr]
        left.replace_all_uses_with(first)
        left.graph.erase_node(left)

    if node.args and isinstance(node.args[0], Node):
        yield Change("left out", node.name, run=edited(module, edit))


def moved(module: GraphModule, node: Node, calls: list[Node]) -> Iterator[Change]:
    """A call that writes, before each call that comes before it and after each that comes after it, the nearest
    first."""
    at = calls.index(node)
    for other in reversed(calls[:at]):
        if other in node.all_input_nodes:
            break

        def earlier(nodes: dict[str, Node], other: str = other.name) -> None:
            nodes[other].prepend(nodes[node.name])

        yield Change("before", node.name, other.name, edited(module, earlier))
    for other in calls[at + 1 :]:

        def later(nodes: dict[str, Node], other: str = other.name) -> None:
            written = nodes[node.name]
            written.replace_all_uses_with(written.args[0], lambda user: user is not written)  # type: ignore[arg-type]
            nodes[other].append(written)

        yield Change("after", node.name, other.name, edited(module, later))


def other_arguments(module: GraphModule, node: Node) -> Iterator[Change]:
    """Each argument that is not at its default is put there, and each switch is turned."""
    for signature in signatures_of(node):
        bound = fx_signatures.bind(signature, (node.args, dict(node.kwargs)))
        for parameter in signature if bound else ():
            name, default = parameter.name, parameter.default
            given = bound.get(name, default) if bound else None
            if default is fx_signatures.MISSING or isinstance(given, Node):
                continue

            def with_value(value: Any, name: str = name, signature: Any = signature) -> Callable[..., Any]:
                edit = functools.partial(set_argument, name=node.name, signature=signature, argument={name: value})
                return edited(module, edit)

            if given is not None and not fx_signatures.equals_default(given, parameter):
                yield Change("without", node.name, f"{name}={given!r}", with_value(default))
            elif other := OTHER_VALUES.get((fx_effects.called_name(node), name)):
                value = other(bound or {})
                yield Change("divides by", node.name, str(value), with_value(value))
            elif isinstance(default, bool) or default is None and parameter.type in ("Any", "Optional[bool]"):
                yield Change("with", node.name, f"{name}={not default}", with_value(not default))


def set_argument(
    nodes: dict[str, Node], *, name: str, signature: fx_signatures.Signature, argument: dict[str, Any]
) -> None:
    changed = nodes[name]
    bound = fx_signatures.bind(signature, (changed.args, dict(changed.kwargs)))
    assert bound is not None
    bound.update(argument)
    first = next(iter(bound))
    changed.args, changed.kwargs = (bound.pop(first),), bound


def signatures_of(node: Node) -> tuple[fx_signatures.Signature, ...]:
    target: Any = node.target
    if node.op == "call_method":
        return fx_signatures.of_operator(str(target))
    if isinstance(target, torch._ops.OpOverload):
        return (fx_signatures.of_schema(target._schema),)
    return fx_signatures.of_function(target)


def other_functions(module: GraphModule, node: Node) -> Iterator[Change]:
    name = fx_effects.called_name(node)
    if name == "div" and (len(node.args) > 2 or node.kwargs):
        mode = node.kwargs.get("rounding_mode")
        name = {"floor": "floor_divide"}.get(str(mode), "")
    for count, table in ((1, OF_ONE), (2, OF_TWO)):
        for text, function in table.get(name, []):

            def edit(nodes: dict[str, Node], function: Function = function, count: int = count) -> None:
                changed = nodes[node.name]
                changed.op, changed.target = "call_function", function
                changed.args, changed.kwargs = changed.args[:count], {}

            yield Change("as", node.name, text, edited(module, edit))


class Wider(Interpreter):
    """Runs the program with the results of some calls in another dtype, which they keep until the next call; what that
    gives is rounded as it is in the program."""

    def __init__(
        self, module: GraphModule, calls: set[str], dtype: torch.dtype, plain: Dtypes, *, to_the_end: bool = False
    ) -> None:
        """`plain` are the dtypes that the results have in the program. `to_the_end`: its result keeps the other one."""
        super().__init__(module, garbage_collect_values=False)
        self.calls = calls
        self.dtype = dtype
        self.to_the_end = to_the_end
        self.plain = plain

    def run_node(self, n: Node) -> Any:
        if n.name in self.calls:
            own = self.plain[n.name]
            args, kwargs = pytree.tree_map(lambda x: self.widened(x, own), self.fetch_args_kwargs_from_env(n))
            return pytree.tree_map_only(torch.Tensor, self.cast, getattr(self, n.op)(n.target, args, kwargs))
        result = super().run_node(n)
        if n.op not in ("call_function", "call_method") or not any(x.name in self.calls for x in n.all_input_nodes):
            ends = n.op == "output" and not self.to_the_end
            return self.rounded(result, self.plain["output"]) if ends else result
        return self.rounded(result, self.plain[n.name])

    def widened(self, value: Any, own: list[torch.dtype]) -> Any:
        if isinstance(value, torch.dtype):
            return self.dtype if value in own else value
        return self.cast(value) if isinstance(value, torch.Tensor) else value

    def cast(self, value: torch.Tensor) -> torch.Tensor:
        kinds = FLOATING if self.dtype in FLOATING else INTEGRAL
        return wide.in_dtype(value, self.dtype) if value.dtype in (*kinds, *INTEGRAL) else value

    @staticmethod
    def rounded(value: Any, dtypes: list[torch.dtype]) -> Any:
        given = iter(dtypes)
        return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(next(given)), value)


class Detached(Interpreter):
    """Runs the program, and returns the result of one call without a history that gradients could take."""

    def __init__(self, module: GraphModule, call: str) -> None:
        super().__init__(module)
        self.call = call

    def run_node(self, n: Node) -> Any:
        if n.op != "output":
            return super().run_node(n)

        def returned(node: Node) -> Any:
            value = self.env[node]
            return value.detach() if node.name == self.call and torch.is_tensor(value) else value

        return torch.fx.node.map_arg(n.args[0], returned)


class OneByOne(Interpreter):
    """Runs the program with one call that writes element after element; what it reads of the same memory, through calls
    before it, is read anew for each."""

    def __init__(self, module: GraphModule, call: str) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.call = call

    def run_node(self, n: Node) -> Any:
        if n.name != self.call:
            return super().run_node(n)
        (written,) = (x for x in pytree.tree_leaves(self.map_nodes_to_values(n.args[0], n)) if torch.is_tensor(x))
        sources = [node for node in n.all_input_nodes if node.op != "placeholder" and not fx_effects.has_effect(node)]
        if not sources or written.numel() > MOST_ELEMENTS:
            raise ValueError("it reads nothing that it could write")
        for place in range(written.numel()):
            for node in sources:
                self.env[node] = super().run_node(node)
            before = written.clone()
            result = super().run_node(n)
            after = written.clone()
            written.copy_(before)
            written[tuple(torch.unravel_index(torch.tensor(place), written.shape))] = after.reshape(-1)[place]
        return result


class Noting(Interpreter):
    """Runs the program as it is, and notes the dtypes of the tensors that each call gives."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.dtypes: Dtypes = {}

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        self.dtypes[n.name] = [x.dtype for x in pytree.tree_leaves(result) if isinstance(x, torch.Tensor)]
        return result
