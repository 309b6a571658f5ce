"""repro-minify from Python: minimises what a backend gets wrong. It starts the program, which computes everything.

minify() reduces, minify_all() reduces all failures, check() gives a verdict, capture() records inputs,
testing.assert_compiled_same() is for pytest, and torch.compile(model, backend="repro_minify") checks each graph that
Dynamo hands over. docs/python.md has examples.
"""

from importlib import import_module
from types import ModuleType

from .capturing import Captured, Recorded, capture
from .checking import check
from .errors import BadInput, CannotStart, DoesNotFail, EagerNotReproducible, InternalError, ReproMinifyError
from .minifying import minify, minify_all
from .options import CheckOptions, MinifyOptions
from .result import Result
from .verdict import Verdict

__all__ = [
    "BadInput",
    "CannotStart",
    "Captured",
    "CheckOptions",
    "DoesNotFail",
    "EagerNotReproducible",
    "InternalError",
    "MinifyOptions",
    "Recorded",
    "ReproMinifyError",
    "Result",
    "Verdict",
    "capture",
    "check",
    "dynamo",
    "minify",
    "minify_all",
    "testing",
]


def __getattr__(name: str) -> ModuleType:
    """`dynamo` imports torch, and both are there without an import of their own."""
    if name in ("dynamo", "testing"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
