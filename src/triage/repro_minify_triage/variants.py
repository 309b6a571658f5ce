"""How a model is checked: a backend, and options of repro-minify after its name ("jit --grad")."""

import shlex
from dataclasses import dataclass

from .errors import TriageError


@dataclass(frozen=True, order=True)
class Variant:
    backend: str
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return shlex.join([self.backend, *self.options]) if self.options else self.backend


def parse_variant(text: str) -> Variant:
    # The text after "command:" is a command line of its own.
    if text.startswith(("plugin:", "command:")):
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
        parts = [text] if text.startswith(("plugin:", "command:")) else text.split(",")
        for part in parts:
            found[parse_variant(part)] = None
    return list(found)
