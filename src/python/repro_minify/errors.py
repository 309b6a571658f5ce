"""The exceptions of the package, one class for each kind. The sentence is the program's own."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .original import Original


class ReproMinifyError(Exception):
    """Any of those below."""


class CannotStart(ReproMinifyError):
    """There is no program, or not one for the torch of this environment."""


class BadInput(ReproMinifyError, ValueError):
    """A model, inputs or options that cannot be used (exit code 2)."""


class CannotTrace(BadInput):
    """Neither a trace nor a script of the model does what the model does in eager."""

    original: Original | None = None  # how the model itself fails under torch.compile


class DoesNotFail(ReproMinifyError):
    """Eager and the backend agree: there is nothing to reduce (exit code 1 of a reduction)."""

    original: Original | None = None  # how the model itself fails under torch.compile, where its trace does not
    graphs: tuple[Path, ...] = ()  # programs that are left for a reader, where Dynamo captured the model wrongly


class EagerNotReproducible(ReproMinifyError):
    """Eager itself is not reproducible, crashes or hangs, so nothing can be said of the backend (exit code 3)."""


class InternalError(ReproMinifyError):
    """A fault of the program, or the machine gave no process, memory or temporary folder (exit code 70)."""


@contextlib.contextmanager
def files_of_user() -> Iterator[None]:
    """Raises BadInput in the place of OSError: a folder that cannot be written, a disk that is full. Where the machine
    gave no memory, process or descriptor it is InternalError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE):
            raise InternalError(str(error)) from error
        place = f"{error.filename}: " if error.filename else ""
        raise BadInput(f"{place}{error.strerror or error}") from error


def first_line(error: BaseException) -> str:
    """Its class and the first line of its text, with the next where that one only announces it; those of the error
    inside where Dynamo only says which backend raised it."""
    error = getattr(error, "inner_exception", None) or error
    if found := re.search(r"with fake tensors: .* got (\w+)\((['\"])(.+)\2\)$", str(error), re.MULTILINE):  # by Dynamo
        return f"{found[1]}: " + found[3].split("\\n")[0]  # it is the text of a repr()
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
