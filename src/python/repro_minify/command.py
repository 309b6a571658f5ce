"""The words that are given to the program."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .options import arguments_of


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def words_of(model: Any, inputs: Any, backend: str | None, options: Mapping[str, object], folder: Path) -> list[str]:
    """What has to be saved first goes to `folder`, which is made where it is needed."""
    words = arguments_of(options)
    if backend is not None and "oracle" not in options:
        words.append(f"--backend={backend}")
    if is_path(inputs):
        words.append(f"--inputs={os.fspath(inputs)}")
    if is_path(model):
        words.append(f"--model={os.fspath(model)}")
        if inputs is not None and not is_path(inputs):
            from .saving import save_inputs  # it imports torch

            folder.mkdir(parents=True, exist_ok=True)
            words.append(f"--inputs={save_inputs(inputs, folder)}")
        return words
    from .saving import save_failing

    folder.mkdir(parents=True, exist_ok=True)
    saved = save_failing(model, inputs, folder)
    words += [f"--model={saved.model}", f"--inputs={saved.inputs}"]
    return words + (["--train"] if saved.train and "train" not in options else [])
