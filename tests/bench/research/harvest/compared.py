"""Eager against torch.compile for one batch: which of its expressions differ, asked alone.

A result differs where the tool's own rule would say so: another shape or dtype, NaN or Inf elsewhere, another integer,
or a float that is further off than rounding goes. repro-minify is asked about each afterwards, and it alone decides.
"""

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from probes import Batch, Function, Inputs, fresh

ROUNDING = {torch.float16: 2e-2, torch.bfloat16: 8e-2, torch.float32: 1e-4, torch.float64: 1e-4}


@dataclass(frozen=True)
class Difference:
    expressions: tuple[str, ...]  # more than one where an expression alone is right
    message: str


def difference(eager: object, compiled: object) -> str | None:
    if not isinstance(eager, Tensor) or not isinstance(compiled, Tensor):
        return None if eager == compiled or eager != eager else f"{eager} became {compiled}"
    return difference_of_tensors(eager, compiled)


def difference_of_tensors(eager: Tensor, compiled: Tensor) -> str | None:
    if eager.shape != compiled.shape:
        return f"shape {list(eager.shape)} became {list(compiled.shape)}"
    if eager.dtype != compiled.dtype:
        return f"{eager.dtype} became {compiled.dtype}"
    if eager.dtype.is_complex:
        eager, compiled = torch.view_as_real(eager.resolve_conj()), torch.view_as_real(compiled.resolve_conj())
    if not eager.dtype.is_floating_point:
        return first_of(eager, compiled, eager != compiled)
    tolerance = ROUNDING.get(eager.dtype, 0.5)
    wide, other = eager.double(), compiled.double()
    finite = wide.isfinite() & other.isfinite()
    close = (wide - other).abs() <= tolerance + tolerance * other.abs()
    return first_of(eager, compiled, ~(torch.where(finite, close, wide == other) | (wide.isnan() & other.isnan())))


def first_of(eager: Tensor, compiled: Tensor, wrong: Tensor) -> str | None:
    if not wrong.any():
        return None
    where = int(wrong.flatten().int().argmax())
    return (
        f"{int(wrong.sum())} of {wrong.numel()} {eager.dtype}; [{where}]: "
        f"{eager.flatten()[where].item()} became {compiled.flatten()[where].item()}"
    )


def run_eagerly(expression: str, inputs: Inputs) -> tuple[object] | None:
    """None where eager refuses it, warns that it is not defined, or answers in two ways."""
    try:
        module = Function((expression,))
        first, second = module(*fresh(inputs)), module(*fresh(inputs))
    except Exception:  # whatever it refuses with, there is nothing to compare
        return None
    if not isinstance(first[0], (Tensor, bool, int, float)) or difference(first[0], second[0]):
        return None
    return (first[0],)


def run_compiled(expressions: tuple[str, ...], inputs: Inputs) -> tuple[object, ...]:
    torch._dynamo.reset()
    compiled = torch.compile(Function(expressions), backend="inductor", fullgraph=True)
    results: tuple[object, ...] = compiled(*fresh(inputs))
    return results


def differences(batch: Batch) -> list[Difference]:
    warnings.simplefilter("ignore")
    eager = {text: found for text in batch.expressions if (found := run_eagerly(text, batch.inputs))}
    return asked(tuple(eager), {text: found[0] for text, found in eager.items()}, batch.inputs)


def asked(expressions: tuple[str, ...], eager: dict[str, object], inputs: Inputs) -> list[Difference]:
    if not expressions:
        return []
    try:
        compiled = run_compiled(expressions, inputs)
    except Exception as error:
        if len(expressions) == 1:
            return [Difference(expressions, message_of(error))]
        middle = len(expressions) // 2
        return asked(expressions[:middle], eager, inputs) + asked(expressions[middle:], eager, inputs)
    wrong = [(text, why) for text, result in zip(expressions, compiled) if (why := difference(eager[text], result))]
    if len(expressions) == 1:
        return [Difference((text,), why) for text, why in wrong]
    found = []
    for text, why in wrong:
        found += asked((text,), eager, inputs) or [Difference((text, *(e for e in expressions if e != text)), why)]
    return found


def message_of(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in lines if "error:" in line), lines[0] if lines else "")
    return f"{type(error).__name__}: {said[:300]}"
