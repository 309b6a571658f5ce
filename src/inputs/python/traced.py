"""A module with tensors for arguments and results, as TorchScript: what torch.jit.trace takes down."""

import inspect
import keyword
import re
import sys
import warnings
from typing import Any

import torch
import torch.utils._pytree as pytree

from loaded import Loaded
from portable import Portable
from refused import Refused


WORDS_OF_DYNAMO = {"L", "G", "self", "modules", "parameters", "buffers"}


def readable(name: str) -> str:
    """Dynamo's name of an input without its own words: L_self_modules_stem_parameters_weight_ is stem_weight."""
    if not name.startswith(("L_", "G_")):
        return name
    return "_".join(word for word in name.split("_") if word and word not in WORDS_OF_DYNAMO)


def argument_names(wanted: list[str], count: int) -> list[str]:
    """Identifiers, each once."""
    names: list[str] = []
    for i in range(count):
        name = re.sub(r"\W", "_", readable(wanted[i]) if i < len(wanted) else f"x{i}", flags=re.ASCII)
        if not name or name[0].isdigit() or keyword.iskeyword(name) or name in ("self", "torch"):
            name = "x_" + name
        while name in names:
            name += "_"
        names.append(name)
    return names


class Flat(torch.nn.Module):
    """Takes the tensors among the arguments; the other ones are part of it. Returns the tensors among the results."""

    def __init__(self, loaded: Loaded) -> None:
        super().__init__()
        self._ = loaded.module  # no part of the names of its parameters
        leaves, self.spec = pytree.tree_flatten(loaded.args)
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.where = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        wanted = [loaded.names[i] if i < len(loaded.names) else f"x{i}" for i in self.where]
        self.names = argument_names(wanted, len(self.where))
        self.grad = loaded.grad
        self.left_out = 0
        """Results that are no tensors."""

    def call(self, tensors: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        leaves = list(self.leaves)
        for i, tensor in zip(self.where, tensors):
            leaves[i] = tensor
        args = pytree.tree_unflatten(leaves, self.spec)
        with torch.set_grad_enabled(self.grad):
            results = pytree.tree_leaves(self._(*args))
        tensors_out = tuple(result for result in results if isinstance(result, torch.Tensor))
        self.left_out = len(results) - len(tensors_out)
        return tensors_out


def flat_module(loaded: Loaded) -> Flat:
    """With a forward of its own, which names the arguments: TorchScript takes the names from there."""
    flat = Flat(loaded)
    names = flat.names
    source = f"def forward(self, {', '.join(names)}):\n  return self.call(({' '.join(name + ',' for name in names)}))\n"
    space: dict[str, Any] = {}
    exec(source, space)  # of identifiers that argument_names has made
    kind = type("Flat", (Flat,), {"forward": space["forward"]})
    flat.__class__ = kind
    assert list(inspect.signature(flat.forward).parameters) == names
    return flat


def traced(flat: Flat, inputs: tuple[torch.Tensor, ...]) -> tuple[Any, list[str]]:
    """The TorchScript module, and what is not as it was."""
    mode = Portable()
    with warnings.catch_warnings(), mode:
        warnings.simplefilter("ignore")
        try:
            script = torch.jit.trace(flat, inputs, check_trace=False, strict=False)
        except Exception as error:
            text = " ".join(str(error).split())
            advice = ""
            if sys.version_info >= (3, 14):
                advice = (
                    "; PyTorch says that torch.jit may break under Python 3.14 and later: --python names an older one"
                )
            raise Refused(f"cannot be traced: {type(error).__name__}: {text[:300]}{advice}") from error
    return script, mode.notes
