"""What goes wrong, one class for each kind. The sentence is the program's own."""


class ReproMinifyError(Exception):
    """Any of those below."""


class CannotStart(ReproMinifyError):
    """There is no program, or not one for the torch of this environment."""


class BadInput(ReproMinifyError, ValueError):
    """A model, inputs or options that cannot be used (exit code 2)."""


class DoesNotFail(ReproMinifyError):
    """Eager and the backend agree: there is nothing to reduce (exit code 1 of a reduction)."""


class EagerNotReproducible(ReproMinifyError):
    """Eager itself is not reproducible, crashes or hangs, so nothing can be said of the backend (exit code 3)."""


class InternalError(ReproMinifyError):
    """A fault of the program, or the machine gave no process, memory or temporary folder (exit code 70)."""
