"""For which other dtypes and sizes of its inputs a program is wrong too.

    others = asked(compiled, eager, arguments)   # [{"what": "int8", "fails": True}, ...]

A maintainer asks this first, and it bounds the fault: what is right for every dtype but one, or for every size but one
row, is found in the code for that case. The values stay as they are, as far as the other dtype has them.
"""

import copy
import functools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

import explanation
from changes import INTEGRAL, FLOATING

FAMILIES = (INTEGRAL, FLOATING)
MOST_SECONDS = 15.0  # after which no further case is asked
VECTOR = 64  # elements: as many as a vector of the processor has of the smallest dtype
DIMENSIONS = {0: "the first dimension", -1: "the last dimension"}

Arguments = list[Any]


def asked(compiled: explanation.Side, eager: explanation.Side, arguments: Arguments) -> list[dict[str, Any]]:
    """Returns {"what", "kind": "dtype", "size" or "rank", "fails"} for each case that eager takes. `compiled` is called
    with other arguments than it was made for. Where compiling is slow some cases are left out: the process has a limit,
    and would lose all that was found out."""
    answers: list[dict[str, Any]] = []
    end = time.monotonic() + MOST_SECONDS
    raises = compiled.outcome(arguments) is None
    for what, kind, given in cases(arguments, eager.state):
        if time.monotonic() > end:
            break
        fails = whether_fails(compiled, eager, given, raises)
        if fails is False and kind == "dtype" and (larger := mapped(given, as_long_as_vectors)):
            fails = bool(whether_fails(compiled, eager, larger, raises))  # a few elements have scalar code
        if fails is not None:
            answers.append({"what": what, "kind": kind, "fails": fails})
    return answers


def whether_fails(
    compiled: explanation.Side, eager: explanation.Side, given: Arguments, raises: bool
) -> bool | None:
    """None where eager takes no such arguments, or it is another failure: `raises` says which one is looked for."""
    expected = eager.outcome(given)
    found = compiled.outcome(given) if expected is not None else None
    if expected is None or (found is None and not raises):
        return None
    return found is None or not (alike(found, expected) or rounds_less(eager, given, found, expected))


def as_long_as_vectors(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().repeat_interleave(VECTOR, -1) if tensor.dim() else tensor.detach().clone()


def rounds_less(eager: explanation.Side, given: Arguments, found: list[Any], expected: list[Any]) -> bool:
    """True if the results are as near to those of float64 as eager's are: what is computed in one loop is not rounded
    to a narrow dtype between its operators."""
    if not all(isinstance(x, torch.Tensor) and x.is_floating_point() for x in [*found, *expected]):
        return False
    if any((x.dtype, x.shape) != (y.dtype, y.shape) for x, y in zip(found, expected)):
        return False
    wide = mapped(given, lambda x: x.detach().double() if x.is_floating_point() else x.detach().clone())
    exact = eager.outcome(wide) if wide is not None else None
    if exact is None or len(found) != len(expected) or [x.shape for x in exact] != [x.shape for x in expected]:
        return False

    def error(values: list[Any]) -> float:
        """The largest where the exact result is a number; infinite where another one is none."""
        worst = 0.0
        for x, y in zip(values, exact):
            finite = y.isfinite()
            if not torch.equal(x.double()[~finite].nan_to_num(nan=0.5), y.double()[~finite].nan_to_num(nan=0.5)):
                return math.inf
            errors = (x.double() - y.double())[finite].abs().nan_to_num(nan=math.inf)
            worst = max(worst, float(errors.max()) if errors.numel() else 0.0)
        return worst

    return error(found) <= error(expected)


def alike(found: list[Any], expected: list[Any]) -> bool:
    """Compares with the tolerances that torch.testing.assert_close has for each dtype, as a repro does."""
    try:
        torch.testing.assert_close(found, expected, equal_nan=True)
    except (AssertionError, TypeError):
        return False
    return True


def tensors_in(arguments: Arguments) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor)]


def are_plain(tensors: list[torch.Tensor]) -> bool:
    """True if each is contiguous and has memory of its own, which what is made of it has too: what is asked of others
    would say nothing of a failure that comes of strides, or of memory that two arguments share."""
    memories = {tensor.untyped_storage().data_ptr() for tensor in tensors if tensor.numel()}
    return all(map(torch.Tensor.is_contiguous, tensors)) and len(memories) == sum(bool(x.numel()) for x in tensors)


def cases(arguments: Arguments, state: list[torch.Tensor]) -> Iterator[tuple[str, str, Arguments]]:
    tensors = tensors_in(arguments)
    if not tensors or not are_plain(tensors):
        return
    dtype = tensors[0].dtype
    family = next((family for family in FAMILIES if dtype in family), ())
    is_held = any(tensor.dtype == dtype for tensor in state)  # which stays as it is
    is_mixed = any(tensor.dtype in family and tensor.dtype != dtype for tensor in tensors)  # which of them, is not said
    for other in () if is_held or is_mixed else family:
        if other != dtype and (given := mapped(arguments, functools.partial(of_dtype, old=dtype, new=other))):
            yield str(other).removeprefix("torch."), "dtype", given
    if not any(tensor.dim() for tensor in tensors):
        if given := mapped(arguments, lambda tensor: tensor.detach().expand(3).clone()):
            yield "1-d", "rank", given
    most = max(tensor.dim() for tensor in tensors)
    for dimension, words in list(DIMENSIONS.items())[:most]:
        if given := mapped(arguments, functools.partial(explanation.longer, dimension=dimension)):
            yield words, "size", given


def mapped(arguments: Arguments, change: Callable[[torch.Tensor], torch.Tensor | None]) -> Arguments | None:
    """The arguments with each tensor changed; None where one cannot be."""
    possible = True

    def changed(leaf: Any) -> Any:
        nonlocal possible
        if not isinstance(leaf, torch.Tensor):
            return copy.deepcopy(leaf)
        other = change(leaf)
        possible = possible and other is not None
        return leaf if other is None else other.requires_grad_(leaf.requires_grad and other.is_floating_point())

    made = pytree.tree_map(changed, arguments)
    return made if possible else None


def of_dtype(tensor: torch.Tensor, old: torch.dtype, new: torch.dtype) -> torch.Tensor | None:
    """The same values; the ends of an integral type become the ends of the other. None where the other has not all."""
    if tensor.dtype != old:
        return tensor.detach().clone()
    made = tensor.detach().to(new)
    if old.is_floating_point:
        kept = torch.allclose(made.double(), tensor.double(), rtol=0.01, atol=0, equal_nan=True)  # no 1e-8 as 0
        return made if kept else None
    ends, others = torch.iinfo(old), torch.iinfo(new)
    is_end = torch.zeros_like(tensor, dtype=torch.bool)
    for end, other in ((ends.min, others.min), (ends.max, others.max)):
        if end:
            made[tensor == end] = other
            is_end |= tensor == end
    return made if torch.equal(made.to(torch.int64)[~is_end], tensor.to(torch.int64)[~is_end]) else None
