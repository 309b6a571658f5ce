"""Any model as failing.pt and inputs.pt, which the program reads."""

import errno
import functools
import io
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .errors import BadInput, CannotTrace
from .inputs import Arguments, arguments_of_call
from .tracing import copies, to_torchscript


@dataclass(frozen=True)
class Saved:
    model: Path
    inputs: Path
    train: bool  # it is a script of a module in training mode; a trace has no modes


def name_of(model: object) -> str:
    """For files: what a class or function is called may hold anything."""
    name = getattr(model, "original_name", None) or getattr(model, "__name__", None) or type(model).__name__
    return re.sub(r"\W+", "_", str(name), flags=re.ASCII).strip("_")[:60] or "model"


def as_callable(model: Any) -> Callable[..., Any]:
    if isinstance(model, torch.export.ExportedProgram):
        model = model.module()
    if type(model).__name__ == "OptimizedModule":  # what torch.compile made of a module
        model = model._orig_mod
    elif not getattr(model, "_torchdynamo_disable", False):
        model = getattr(model, "_torchdynamo_orig_callable", model)  # of a function
    if callable(model):
        return model  # type: ignore[no-any-return]
    raise BadInput(
        f"{type(model).__name__} is no model: give a torch.nn.Module, a function, a ScriptModule, "
        "an ExportedProgram, a GraphModule, or a path"
    )


def given_arguments(model: object, inputs: Any) -> Arguments:
    if inputs is None and isinstance(model, torch.export.ExportedProgram) and model.example_inputs is not None:
        args, kwargs = model.example_inputs
        return tuple(args), dict(kwargs)
    if inputs is None:
        raise BadInput(f"{name_of(model)}: no inputs given; give the arguments of one call that fails")
    if isinstance(inputs, Iterator):
        raise BadInput(f"inputs is a {type(inputs).__name__}, which gives its values once; give a tuple of them")
    return arguments_of_call(inputs)


def settings_of_device(model: Any, inputs: Any) -> dict[str, Any]:
    """Returns the options that say where a model given to check() or minify() runs, by the tensors that it is given and
    has: the user's own device, and no autocast but the user's own."""
    args, kwargs = given_arguments(model, inputs)
    call = as_callable(model)
    state = [*getattr(call, "parameters", tuple)(), *getattr(call, "buffers", tuple)()]
    tensors = [leaf for leaf in [*pytree.tree_leaves((args, kwargs)), *state] if isinstance(leaf, torch.Tensor)]
    device = next((str(tensor.device) for tensor in tensors if tensor.is_cuda), None)
    return {"device": device, "autocast": False} if device else {}


def write_whole(path: Path, size: int, save: Callable[[Any], None]) -> None:
    """Writes what save(file) writes, some `size` bytes. Raises OSError where the disk is full: PyTorch's own writer to
    a file ends the process then, so the archive is made in memory. One of a gigabyte is not, but wants room on the
    disk."""
    if size < 1 << 30:
        archive = io.BytesIO()
        save(archive)
        path.write_bytes(archive.getbuffer())
        return
    if shutil.disk_usage(path.parent).free < size + (size >> 4):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    save(str(path))


def size_of(module: Any) -> int:
    tensors = [tensor for kind in ("parameters", "buffers") for tensor in getattr(module, kind, tuple)()]
    return sum(tensor.nbytes for tensor in tensors if has_memory(tensor))


def save_inputs(inputs: Any, folder: Path) -> Path:
    path = folder / "inputs.pt"
    size = sum(leaf.nbytes for leaf in pytree.tree_leaves(inputs) if has_memory(leaf))
    write_whole(path, size, functools.partial(torch.save, inputs))
    return path


def has_memory(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def of_this_python() -> str:
    """PyTorch warns of it; under an older Python there is nothing to add."""
    if sys.version_info < (3, 14):
        return ""
    return "; PyTorch says that torch.jit may break under Python 3.14 and later: an older Python may trace it"


def save_failing(model: object, inputs: Any, folder: Path, grad: bool = False) -> Saved:
    """Into a folder that exists: failing.pt, with inputs.pt beside it. `grad`: gradients will be asked for."""
    args, kwargs = given_arguments(model, inputs)
    call = as_callable(model)
    if isinstance(call, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        module, values, has_modes = call, copies((args, kwargs) if kwargs else args, wishes=grad), False
    else:
        try:
            module, values, has_modes = to_torchscript(call, args, kwargs, grad)
        except CannotTrace as error:
            raise CannotTrace(f"{name_of(model)} cannot be made TorchScript: {error}{of_this_python()}") from error
    with warnings.catch_warnings():  # TorchScript is said to be deprecated, which a user of ours did not choose
        warnings.simplefilter("ignore")
        write_whole(folder / "failing.pt", size_of(module), functools.partial(torch.jit.save, module))
    train = has_modes and bool(getattr(call, "training", False))
    return Saved(folder / "failing.pt", save_inputs(values, folder), train)
