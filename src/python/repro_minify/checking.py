"""One check: does the backend get this model wrong?"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

from .command import is_path, words_of
from .errors import CannotTrace, DoesNotFail, files_of_user
from .options import CheckOptions
from .program import raise_for, run
from .verdict import Verdict, verdict_of_run


def check(model: Any, inputs: Any = None, backend: str = "inductor", **options: Unpack[CheckOptions]) -> Verdict:
    """Returns what `repro-minify run` says of a model: compares the backend with eager, changes and keeps nothing.

    `model` and `inputs` are those of minify(). A model whose trace passes under inductor is run under torch.compile
    itself: what differs only there is the verdict's `original`.

    Raises BadInput, EagerNotReproducible, InternalError, CannotStart.
    """
    with files_of_user(), tempfile.TemporaryDirectory(prefix="repro-minify-") as name:
        folder = Path(name)
        if not is_path(model):
            from .saving import settings_of_device  # it imports torch

            options = cast(CheckOptions, {**settings_of_device(model, inputs), **options})
        try:
            words = words_of(model, inputs, backend, options, folder)
        except CannotTrace as error:
            from .original import original_of, untraced  # it imports torch

            found = untraced(error, model, original_of(model, inputs, backend, folder, options))
            if isinstance(found, DoesNotFail):  # itself; it has no trace to be checked
                return Verdict("pass", "", "", str(found), backend, {})
            raise found from error.__cause__
        verdict = verdict_of_words(words)
        if verdict.failed or is_path(model):
            return verdict
        from .original import original_of, through_dynamo  # it imports torch

        original = original_of(model, inputs, backend, folder, options)
        if not original:
            return verdict
        if more := through_dynamo(options):
            again = verdict_of_words([*words, *more])
            if again.failed:
                return again
        return replace(verdict, original=original)


def verdict_of(model: Path, inputs: Path | None, backend: str, options: Mapping[str, object]) -> Verdict:
    """Checks a model on disk, under those of the options that are of a check. Its times are not measured, as they are
    not shown and take as long as the check."""
    known = {name: value for name, value in options.items() if name in CheckOptions.__annotations__}
    return check(model, inputs, backend, **cast(CheckOptions, {"timing": False, **known}))


def with_finer_tolerance(model: Path, backend: str, options: Mapping[str, object], verdict: Verdict) -> Verdict | None:
    """Returns the verdict with `sum_tolerance` of the one that is given, if a gradient is wrong then: it is too fine
    for results. None if none is, and where the user says what counts."""
    if verdict.sum_tolerance is None or {"compare", "tol"} & options.keys():
        return None
    finer = verdict_of(model, None, backend, {**options, "tol": verdict.sum_tolerance})
    return finer if finer.kind == "gradient" else None


def verdict_of_words(words: list[str]) -> Verdict:
    ended = run(["run", "--json", *words])
    if ended.code not in (0, 1) or not ended.output.lstrip().startswith("{"):  # a loader's own error ends with 1 too
        raise_for(ended)
    return verdict_of_run(json.loads(ended.output))
