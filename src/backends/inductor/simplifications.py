"""Remembers, for all children of a run, what sympy simplifies: candidates of one model have their index expressions in
common, and to simplify these is more than half of TorchInductor's Python over a large graph."""

import contextlib
import hashlib
import os
import pickle
from pathlib import Path

import sympy

from kernels import write_whole


def remember_simplifications():
    """In files of this run's folder that its children write and read, each named by its expression; the parent has no
    part in it."""
    simplify = sympy.simplify
    folder = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]) / "simplifications"

    def simplify_once(expression, *others, **options):
        if others or options or not isinstance(expression, sympy.Basic):
            return simplify(expression, *others, **options)
        place = folder / hashlib.sha256(sympy.srepr(expression).encode()).hexdigest()
        with contextlib.suppress(OSError):
            return pickle.loads(place.read_bytes())
        simpler = simplify(expression)
        with contextlib.suppress(OSError):  # no room: the next one simplifies it again
            folder.mkdir(exist_ok=True)
            write_whole(place, pickle.dumps(simpler))
        return simpler

    sympy.simplify = simplify_once
