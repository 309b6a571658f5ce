"""Records the first calls of a module inside a user's own program, each as a program.py and a failing.pt."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import BadInput, ReproMinifyError, files_of_user, first_line

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Recorded:
    """One call: its inputs.pt, and beside it program.py, where Dynamo makes one graph of it, and failing.pt."""

    folder: Path
    problem: str = ""  # why there is no failing.pt; inputs.pt then holds (args, kwargs)

    @property
    def model(self) -> Path:
        """Its trace, for every backend."""
        return self.folder / "failing.pt"

    @property
    def program(self) -> Path | None:
        """The program that keeps its calls, for inductor; None where there is none."""
        path = self.folder / "program.py"
        return path if path.exists() else None


class Captured(list[Recorded]):
    """The calls that were recorded, in order."""


def record(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], folder: Path) -> Recorded:
    from .saved_graphs import save_graphs
    from .saving import save_failing, save_inputs
    from .tracing import copies

    try:
        folder.mkdir(parents=True, exist_ok=True)
        save_inputs(copies((args, kwargs)), folder)  # first, as the module may take the process along
        given = copies((args, kwargs), wishes=True)  # an iterator among them is used up
        saved = save_graphs(module, given, folder, {})
        if saved.refused or saved.problem or len(saved.programs) != 1:
            for left in [*folder.glob("program*.py"), *folder.glob("data*.pt")]:
                left.unlink()
        save_failing(module, given, folder)
    except ReproMinifyError as error:
        return Recorded(folder, str(error))
    except Exception as error:  # the user's program goes on, whatever cannot be copied or written
        return Recorded(folder, first_line(error))
    return Recorded(folder)


@contextlib.contextmanager
def capture(
    module: torch.nn.Module, folder: str | os.PathLike[str], calls: int = 3, force: bool = False
) -> Iterator[Captured]:
    """Writes FOLDER/call-1/program.py, failing.pt and inputs.pt, and so on, for the first `calls` calls of `module` in
    the block.

    Each is written before the call runs, with the buffers and parameters as they are then: one that raises is there all
    the same, and of one that takes the process along its inputs. A call costs six more runs of the module.
    """
    import torch

    captured, root = Captured(), Path(folder)
    with files_of_user():
        if not force and root.exists() and any(root.iterdir()):
            raise BadInput(f"{root}: exists and is not empty; give another folder, or force=True to write into it")

    one_at_a_time = threading.Lock()

    @torch._dynamo.disable
    def before(called: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        if len(captured) >= calls or torch.jit.is_tracing() or not one_at_a_time.acquire(blocking=False):
            return  # a call in another thread meanwhile is not recorded, nor is one that the recording makes
        try:
            handles.pop().remove()  # what is recorded is the module without it
            captured.append(record(called, args, kwargs or {}, root / f"call-{len(captured) + 1}"))
        finally:
            handles.append(hook())
            one_at_a_time.release()

    def hook() -> Any:
        """Before the user's own hooks: those run again when the module is recorded."""
        return module.register_forward_pre_hook(before, with_kwargs=True, prepend=True)

    handles = [hook()]
    try:
        yield captured
    finally:
        with one_at_a_time:
            handles.pop().remove()
