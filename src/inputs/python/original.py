"""A program itself under torch.compile. It is asked where its TorchScript passes: a conversion may lose what fails."""

import copy
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from agreement import PARTS, Ran, copies, difference, run
from loaded import Loaded
from traced import Flat, flat_module, traced
from wide import Memories, Wide, in_dtype


class Called(TorchDispatchMode):
    """Collects the names of the operators that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func._schema.name)
        return func(*args, **(kwargs or {}))


def operators_of(call: Any, inputs: tuple[torch.Tensor, ...]) -> set[str]:
    """The names of the operators that `call` computes by; throws what it throws."""
    called = Called()
    with torch.no_grad(), torch.jit.optimized_execution(False), called:
        call(*copies(inputs))
    return called.names


def in_float64(flat: Flat, inputs: tuple[torch.Tensor, ...]) -> Ran | None:
    """Its results with every floating-point tensor as float64; None where it takes none of those."""
    try:
        wide = copy.deepcopy(flat).double()
        shared: Memories = {}
        given = tuple(in_dtype(x, torch.float64, shared) if x.is_floating_point() else x for x in inputs)
        with Wide():
            return run(wide, given, list(wide.buffers()), flat.grad)
    except Exception:
        return None


def how_it_differs(expected: Ran, found: Ran, exact: Ran | None) -> str:
    """Returns how they differ by the rule of PyTorch's own minifier, torch._dynamo.utils.same, or "" if they do not."""
    from torch._dynamo.utils import same

    for what, one in PARTS.items():
        ours, theirs = getattr(found, what), getattr(expected, what)
        if len(ours) != len(theirs):
            return f"it has {len(ours)} {what}, in eager {len(theirs)}"
        wide = getattr(exact, what) if exact else []
        for i, (a, b) in enumerate(zip(theirs, ours)):
            reference = wide[i] if i < len(wide) and wide[i].is_floating_point() else None
            tolerance = torch._dynamo.config.repro_tolerance
            if not same(a, b, reference, tol=tolerance, equal_nan=True, exact_dtype=True, log_error=lambda *_: None):
                return f"{one} {i} is another than in eager"
    return ""


def problem_of(flat: Flat, inputs: tuple[torch.Tensor, ...]) -> str:
    """Empty where it does not fail, or where eager differs from itself. A compilation without gradients is another than
    one with them, so both are asked where the file has gradients enabled."""
    eager = flat._
    for grad in dict.fromkeys((False, flat.grad)):
        flat._, flat.grad = eager, grad
        expected, again = (run(flat, inputs, list(flat.buffers()), grad) for _ in range(2))
        if difference(expected, again):
            return ""
        exact = in_float64(flat, inputs)
        flat._ = torch.compile(eager)
        try:
            found = run(flat, inputs, list(flat.buffers()), grad)
        except Exception as error:
            return f"it raises {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        if problem := how_it_differs(expected, found, exact):
            return problem
    return ""


def entries_of(loaded: Loaded) -> dict[str, Any]:
    """Returns the entries of torch._inductor.config that the file sets, as values."""
    import ast

    entries: dict[str, Any] = {}
    for entry in loaded.inductor_config:
        key, _, value = entry.partition("=")
        try:
            entries[key] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            entries[key] = {"true": True, "false": False}.get(value, value)
    return entries


def answer_of(loaded: Loaded, keeps_calls: bool) -> dict[str, Any]:
    """{"fails": how the program differs from eager, or "", "lost": operators that its TorchScript does not call}, which
    what keeps its calls does not lose."""
    import torch._inductor.config

    flat = flat_module(loaded)
    leaves = pytree.tree_leaves(loaded.args)
    inputs = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
    lost: list[str] = []
    if not keeps_calls:
        wanted = operators_of(flat, inputs)
        script, _ = traced(flat, copies(inputs))
        lost = sorted(wanted - operators_of(script, inputs))
    with torch._inductor.config.patch({"fallback_random": True, "compile_threads": 1, **entries_of(loaded)}):
        return {"fails": problem_of(flat, inputs), "lost": lost}
