"""The words that are given to the program."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import BadInput
from .options import arguments_of


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def words_of(model: Any, inputs: Any, backend: str | None, options: Mapping[str, object], folder: Path) -> list[str]:
    """Returns the arguments of the program. What has to be saved first goes to `folder`, which is made where needed.

    Raises CannotTrace for a model that has no TorchScript.
    """
    words = arguments_of(options)
    if backend is not None and "oracle" not in options:
        words.append(f"--backend={backend}")
    if is_path(model):
        words.append(f"--model={os.fspath(model)}")
        if inputs is None:
            return words
        return [*words, f"--inputs={os.fspath(inputs) if is_path(inputs) else saved_inputs(inputs, folder)}"]
    if is_path(inputs):
        raise BadInput(f"{os.fspath(inputs)}: a file of inputs goes with the path of a model; load it with torch.load")
    from .saving import save_failing  # it imports torch

    folder.mkdir(parents=True, exist_ok=True)
    saved = save_failing(model, inputs, folder, bool(options.get("grad")))
    words += [f"--model={saved.model}", f"--inputs={saved.inputs}"]
    return words + (["--train"] if saved.train and "train" not in options else [])


def saved_inputs(inputs: Any, folder: Path) -> Path:
    from .saving import save_inputs

    folder.mkdir(parents=True, exist_ok=True)
    return save_inputs(inputs, folder)
