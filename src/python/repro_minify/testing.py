"""For pytest: a model has to give compiled what it gives in eager."""

import shutil
import tempfile
from pathlib import Path
from typing import Any, Unpack, cast

from .errors import DoesNotFail, ReproMinifyError
from .minifying import minify
from .options import MinifyOptions
from .result import Result


def failure_text(result: Result) -> str:
    return f"{result.verdict}\n\nThe same in {result.repro}:\n\n{result.program}"


def assert_compiled_same(
    model: Any, inputs: Any = None, backend: str = "inductor", **options: Unpack[MinifyOptions]
) -> None:
    """Passes silently where eager and `backend` agree by the comparison rule of repro-minify; else fails with a minimal
    repro.

    Raises AssertionError with the path of the repro and its program. Without `output` both are in a new temporary
    folder, which stays. What minify() raises otherwise goes through: a test that says nothing does not pass.
    """
    __tracebackhide__ = True
    own = None if "output" in options else Path(tempfile.mkdtemp(prefix="repro-minify-"))
    given = cast(MinifyOptions, {"quiet": True, **({"output": own / "repro"} if own else {}), **options})
    try:
        result = minify(model, inputs, backend, **given)
    except ReproMinifyError as error:
        if own and not getattr(error, "graphs", ()):
            shutil.rmtree(own, ignore_errors=True)
        if isinstance(error, DoesNotFail):
            if error.original:
                raise AssertionError(str(error)) from error
            if error.original is None or not error.original.unknown:
                return
        raise
    raise AssertionError(failure_text(result))
