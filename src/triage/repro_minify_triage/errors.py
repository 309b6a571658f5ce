"""What a user can do something about: one sentence, exit code 2."""


class TriageError(Exception):
    """What was wrong, which file or flag, what to do."""
