"""Finds out what a report says of a program that fails."""

import contextlib
from typing import Any

import torch

import conditions
import explanation
import generated
import numpy_side


def program(repro: Any, compiled: Any) -> dict[str, Any]:
    """Returns {"change", "dtype", "sizes", "cases", "is_numpys", "decompositions"}. "change" is None or as
    explanation.in_words() has it, "decompositions" are those of generated.decompositions_of(), "cases" are those of
    conditions.asked(), "dtype" is that of the inputs, "sizes" are those that all inputs have. "is_numpys" is true if
    NumPy gives what eager gives.

    `repro` is an emit.Repro, `compiled` the candidate.Program of the same program."""
    answer: dict[str, Any] = {"change": None, "dtype": "", "sizes": None, "cases": [], "is_numpys": False}
    answer["decompositions"] = []
    subject = explanation.subject_of(repro, compiled)
    if subject is None:
        return answer
    with contextlib.suppress(RuntimeError, ValueError, TypeError, OverflowError):  # of a dtype that nothing is drawn in
        answer["change"] = explanation.in_words(repro, subject)
    answer["decompositions"] = generated.decompositions_of(subject.eager, subject.arguments)
    found, expected = (side.outcome(subject.arguments) for side in (subject.compiled, subject.eager))
    answer["is_numpys"] = numpy_side.agrees(subject.module, subject.arguments, found, expected)
    # Some tensors, sparse ones for instance, cannot be made longer.
    with torch._dynamo.config.patch(recompile_limit=64), contextlib.suppress(RuntimeError):
        answer["cases"] = conditions.asked(subject.compiled, subject.eager, subject.arguments)
    tensors = conditions.tensors_in(subject.arguments)
    if tensors:
        answer["dtype"] = str(tensors[0].dtype).removeprefix("torch.")
    shapes = {tuple(tensor.shape) for tensor in tensors if tensor.dim()}
    answer["sizes"] = list(shapes.pop()) if len(shapes) == 1 else None
    return answer
