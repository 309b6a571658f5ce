"""The form that every kind of file is read into: something that can be called, and its arguments."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


@dataclass
class Loaded:
    module: torch.nn.Module
    args: tuple[Any, ...]
    names: list[str] = field(default_factory=list)
    """The names of the leaves of args, in pytree's order; those missing at the end are made up."""
    grad: bool = True
    """True if the file runs it with gradients enabled."""
    data: str = ""
    """Where the inputs come from, for a person."""
    notes: list[str] = field(default_factory=list)
    """Differences from the file, each one sentence."""
    inductor_config: list[str] = field(default_factory=list)
    """KEY=VALUE, entries of torch._inductor.config that the file sets."""
    only_traced: str = ""
    """Why its calls cannot be kept, where something else than a call is the reason."""
    dynamic: list[str] = field(default_factory=list)
    """Dimensions that were symbolic, for a person."""


class Noting(TorchFunctionMode):
    """A mode that changes calls; `notes` says how, each sentence once."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


def on_a_device_that_is_here(value: Any, note: Callable[[str], None]) -> Any:
    """The CPU for a device that this machine has not."""
    if isinstance(value, torch.device) and value.type == "cuda" and not torch.cuda.is_available():
        note(f"{value.type} is not here: the CPU takes its place")
        return torch.device("cpu")
    return value
