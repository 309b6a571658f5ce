"""The error that a user can do something about: one sentence, exit code 2."""


class TriageError(Exception):
    """Says what was wrong, in which file or flag, and what to do."""
