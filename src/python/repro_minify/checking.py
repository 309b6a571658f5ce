"""One check: does the backend get this model wrong?"""

import json
import tempfile
from pathlib import Path
from typing import Any, Unpack

from .command import words_of
from .options import CheckOptions
from .program import raise_for, run
from .verdict import Verdict, verdict_of_run


def check(model: Any, inputs: Any = None, backend: str = "inductor", **options: Unpack[CheckOptions]) -> Verdict:
    """What `repro-minify run` says of a model: compares the backend with eager, changes nothing, keeps no file.

    `model` and `inputs` are those of minify(). Raises BadInput, EagerNotReproducible, InternalError, CannotStart.
    """
    with tempfile.TemporaryDirectory(prefix="repro-minify-") as folder:
        words = words_of(model, inputs, backend, options, Path(folder))
        ended = run(["run", "--json", *words])
    if ended.code not in (0, 1):
        raise_for(ended)
    return verdict_of_run(json.loads(ended.output))
