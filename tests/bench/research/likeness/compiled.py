"""Compares a model under torch.compile with eager through Python alone: the check on repro-minify's own `inductor`.

The rule is PyTorch's: torch._dynamo.utils.same, with the options of torch._dynamo.debug_utils.same_two_models.
"""

import contextlib
import copy

import torch
import torch._dynamo.utils
import torch._inductor.compile_fx  # imported before forking, so that each child starts warm

TOLERANCE = 1e-3


def run(module, inputs, precision):
    """The outputs, under autocast in bfloat16 if that is the precision. Neither module nor inputs are changed."""
    half = precision == "bfloat16"
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16) if half else contextlib.nullcontext():
        return module(*copy.deepcopy(inputs))


def reference(model):
    try:
        return as_tuple(run(*model.build("float64"), "float64"))
    except Exception:
        return None  # as PyTorch does: eager then takes its place


def kind_of(eager, result):
    """Returns what differs first, by the names that repro-minify gives to kinds."""
    for expected, found in zip(eager, result):
        if expected.shape != found.shape:
            return "shape"
        if expected.dtype != found.dtype:
            return "dtype"
        finite, still_finite = torch.isfinite(expected), torch.isfinite(found)
        if not torch.equal(finite, still_finite):
            return "nan"
    return "accuracy"


def as_tuple(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


def verdict(model, precision):
    """outcome, kind and message, as `repro-minify run --json` has them."""
    module, inputs = model.build(precision)
    eager = as_tuple(run(module, inputs, precision))
    compiled = torch.compile(copy.deepcopy(module), fullgraph=True, dynamic=False)
    try:
        result = as_tuple(run(compiled, inputs, precision))
    except Exception as error:
        message = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
        return {"outcome": "fail", "kind": "exception", "message": message}
    messages = []

    def log_error(message, *values):
        messages.append(message % values)

    same = torch._dynamo.utils.same(eager, result, reference(model), tol=TOLERANCE, equal_nan=True, log_error=log_error)
    if same:
        return {"outcome": "pass", "kind": "", "message": ""}
    return {"outcome": "fail", "kind": kind_of(eager, result), "message": "; ".join(messages)}
