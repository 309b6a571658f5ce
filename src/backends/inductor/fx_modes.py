"""Modes that calls of torch.fx run under: gradients on or off, and autocast.

A call says itself under which modes it runs: "in" of its JSON (fx_call.py) lists those that differ from what the whole
program runs under, the outermost first. So there is no call that enters a mode and none that leaves one, and no edit of
a program can separate the two. A mode is {"grad": false} or {"autocast": ["cpu", "bfloat16", true]}: device, dtype
(null for the device's own), and whether it is on; or {"kernels": [["MATH"], false]}, those of attention that may be
chosen, and whether their order says which comes first. Inference mode is taken as one without gradients: its tensors do
not say that they were written to.
"""

import ast
import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.amp.autocast_mode import _enter_autocast, _exit_autocast
from torch.autograd.grad_mode import _enter_inference_mode, _exit_inference_mode
from torch.fx import Graph, GraphModule, Node
from torch.nn import attention

set_grad_enabled: Any = torch._C._set_grad_enabled
NAMES_OF_KERNELS = ("_sdpa_kernel", "_backend_from_string")  # of torch.nn.attention
choose_kernels, kernel_named = (getattr(attention, name) for name in NAMES_OF_KERNELS)
SWITCHES = (set_grad_enabled, _enter_autocast, _exit_autocast, _enter_inference_mode, _exit_inference_mode,
            choose_kernels, kernel_named)  # fmt: skip
"""The functions that enter and leave modes in a graph of Dynamo's."""

KERNELS = set(attention.SDPBackend.__members__)


def kernels_now() -> list[str]:
    """The kernels of attention that may be chosen around the program."""
    return [kernel.name for kernel in attention._cur_sdpa_kernel_backends()]


Mode = dict[str, Any]
Modes = list[Mode]


class BadMode(ValueError):
    """Raised for what is no mode; the message shows it."""


def switch_of(mode: Any) -> tuple[Any, tuple[Any, ...]]:
    """The function that enters a mode in a graph, and its arguments. Raises BadMode."""
    if isinstance(mode, dict) and len(mode) == 1:
        ((kind, given),) = mode.items()
        if kind == "grad" and type(given) is bool:
            return set_grad_enabled, (given,)
        if kind == "autocast" and isinstance(given, list) and len(given) == 3:
            device, name, enabled = given
            dtype = getattr(torch, name, None) if isinstance(name, str) else None
            known = name is None or isinstance(dtype, torch.dtype)
            if isinstance(device, str) and torch.amp.is_autocast_available(device) and known and type(enabled) is bool:
                return _enter_autocast, (device, dtype, enabled, None)
        if kind == "kernels" and isinstance(given, list) and len(given) == 2 and set(given[0]) <= KERNELS:
            return choose_kernels, (given[0], bool(given[1]))
    raise BadMode(f"no mode of calls: {mode!r:.60}")


def manager_of(mode: Mode) -> Any:
    """The context manager of a mode."""
    switch, given = switch_of(mode)
    if switch is choose_kernels:
        return attention.sdpa_kernel([kernel_named(name) for name in given[0]], given[1])
    return torch.autocast(*given) if switch is _enter_autocast else torch.set_grad_enabled(*given)


@contextlib.contextmanager
def entered(modes: Modes) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for mode in modes:
            stack.enter_context(manager_of(mode))
        yield


def written(mode: Mode) -> ast.expr:
    """The text of a mode behind `with`."""
    switch, given = switch_of(mode)
    if switch is _enter_autocast:
        device, dtype, enabled, _ = given
        said = "enabled=False" if not enabled else f"dtype={dtype}" if dtype else ""
        text = f"torch.autocast({', '.join(filter(None, (repr(device), said)))})"
    elif switch is choose_kernels:
        names = ", ".join(f"torch.nn.attention.SDPBackend.{name}" for name in given[0])
        first = ", set_priority=True" if given[1] else ""
        text = f"torch.nn.attention.sdpa_kernel({names if len(given[0]) == 1 else f'[{names}]'}{first})"
    else:
        text = "torch.enable_grad()" if given[0] else "torch.no_grad()"
    return ast.parse(text, mode="eval").body


class Switched:
    """Follows the calls that switch modes, in their order. `grad` says whether the whole program has gradients."""

    def __init__(self, grad: bool) -> None:
        self.around = grad
        self.grad = grad
        self.casts: dict[Node, Mode] = {}  # by the call that has entered them
        self.kernels: dict[Node, str] = {}  # by the call that has given one of that name
        self.chosen: list[Mode] = []
        self.before: dict[Node, bool] = {}  # whether gradients were on where inference mode was entered

    def take(self, node: Node) -> bool:
        """Returns whether the call is one of SWITCHES. Raises BadMode for a mode that has no form."""
        if node.op != "call_function" or node.target not in SWITCHES:
            return False
        given: Any = node.args
        if node.target is set_grad_enabled:
            self.grad = bool(given[0])
        elif node.target is _enter_autocast:
            device, dtype, enabled, *_ = given
            mode = {"autocast": [device, str(dtype).removeprefix("torch.") if dtype else None, enabled]}
            switch_of(mode)
            self.casts[node] = mode
        elif node.target is _exit_autocast:
            self.casts.pop(given[0], None)
        elif node.target is kernel_named:
            self.kernels[node] = given[0]
        elif node.target is choose_kernels:
            names = [self.kernels[name] for name in given[0]]
            self.chosen = [] if set(names) == set(kernels_now()) else [{"kernels": [names, bool([*given, False][1])]}]
        elif node.target is _enter_inference_mode:
            self.before[node], self.grad = self.grad, not given[0]
        else:
            self.grad = self.before.pop(given[0], self.around)
        return True

    def now(self) -> Modes:
        """The modes that the next call runs under: of autocast on one device, the innermost alone."""
        innermost = {mode["autocast"][0]: mode for mode in self.casts.values()}
        return ([{"grad": self.grad}] if self.grad != self.around else []) + list(innermost.values()) + self.chosen


def with_gradients(modes: Modes) -> Modes:
    """The same modes with gradients enabled, where they are not already."""
    said = [mode["grad"] for mode in modes if "grad" in mode]
    return modes if (said[-1] if said else torch.is_grad_enabled()) else [*modes, {"grad": True}]


def modes_of(node: Node) -> Modes | None:
    """The modes of a call in a graph without switches; None for what only takes a part out of a result."""
    found: Modes | None = node.meta.get("modes")
    return found


def with_switches(graph: Graph, around: bool) -> None:
    """Puts calls into the graph that enter and leave the modes of its calls, as Dynamo has them. `around` says whether
    gradients are enabled around it."""
    open_modes: list[tuple[Mode, Node]] = []
    for node in list(graph.nodes):
        wanted = [] if node.op == "output" else modes_of(node)
        if wanted is None:
            continue
        with graph.inserting_before(node):
            same = common([mode for mode, _ in open_modes], wanted)
            while len(open_modes) > same:
                mode, entering = open_modes.pop()
                leave(graph, mode, entering, [one for one, _ in open_modes], around)
            for mode in wanted[same:]:
                open_modes.append((mode, enter(graph, *switch_of(mode))))


def common(one: Modes, other: Modes) -> int:
    """The number of modes at the beginning that both have."""
    pairs = zip(one, other)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def enter(graph: Graph, switch: Any, given: tuple[Any, ...]) -> Node:
    if switch is choose_kernels:
        given = ([graph.call_function(kernel_named, (name,)) for name in given[0]], given[1])
    return graph.call_function(switch, given)


def leave(graph: Graph, mode: Mode, entering: Node, still: Modes, around: bool) -> None:
    """Leaves a mode. `still` are those that stay in force: of its kind, the innermost is entered again."""
    if "autocast" in mode:
        graph.call_function(_exit_autocast, (entering,))
    elif "kernels" in mode:
        enter(graph, choose_kernels, in_force(still, "kernels", (kernels_now(), False)))
    else:
        graph.call_function(set_grad_enabled, (in_force(still, "grad", around),))


def in_force(modes: Modes, kind: str, otherwise: Any) -> Any:
    return next((mode[kind] for mode in reversed(modes) if kind in mode), otherwise)


def switching(module: GraphModule) -> GraphModule:
    """The same module, which switches the modes of its calls itself from now on, as do the modules in it. Called once,
    where gradients are as they will be around it."""
    for inner in module.modules():
        if isinstance(inner, GraphModule):
            with_switches(inner.graph, torch.is_grad_enabled())
            inner.recompile()
    return module
