"""How a model is checked: a backend, and options of repro-minify after its name ("jit --grad")."""

import shlex
from dataclasses import dataclass

from .errors import TriageError


ONE_TEXT = ("plugin:", "command:")  # what begins so is a path or a command line of its own


@dataclass(frozen=True, order=True)
class Variant:
    backend: str
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Reads back by parse_variant(): quotes tell the options from the words of a command."""
        if not self.options:
            return self.backend
        text = shlex.join([self.backend, *self.options])
        return f"'{self.backend}' {shlex.join(self.options)}" if text.startswith(ONE_TEXT) else text


def parse_variant(text: str) -> Variant:
    if text.startswith(ONE_TEXT):
        return Variant(text)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise TriageError(f"--backend {text}: a quotation mark that is not closed") from error
    if not words:
        raise TriageError("--backend: an empty name; `repro-minify backends` lists them")
    return Variant(words[0], tuple(words[1:]))


def parse_variants(texts: list[str]) -> list[Variant]:
    """Each text is one, or several with commas; the order is kept, and each is taken once."""
    found: dict[Variant, None] = {}
    for text in texts:
        parts = [text] if text.lstrip("'").startswith(ONE_TEXT) else text.split(",")
        for part in parts:
            found[parse_variant(part)] = None
    return list(found)
