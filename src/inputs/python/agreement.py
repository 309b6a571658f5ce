"""Compares what was converted with the original: results, and what is left in inputs and buffers."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from refused import Refused
from traced import Flat

Tensors = list[torch.Tensor]

PARTS = {"results": "result", "inputs": "what is left in input", "buffers": "what is left in buffer"}
"""The parts of a Ran that are compared, in this order, and what one element of each is called."""


@dataclass
class Ran:
    results: Tensors
    inputs: Tensors
    buffers: Tensors
    aliases: list[list[int]]
    """For each result, the inputs whose memory it shares."""


def copies(inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Returns copies with the same strides; inputs that share memory share it in the copies too."""
    file = io.BytesIO()
    torch.save(tuple(x.detach() for x in inputs), file)
    file.seek(0)
    made: tuple[torch.Tensor, ...] = torch.load(file, weights_only=True)
    return tuple(copy.requires_grad_(x.requires_grad) for copy, x in zip(made, inputs))


def storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided else 0


def run(call: Callable[..., Any], inputs: tuple[torch.Tensor, ...], buffers: Tensors, grad: bool) -> Ran:
    mine = copies(inputs)
    kept = [x.detach().clone() for x in buffers]
    torch.manual_seed(0)
    with torch.set_grad_enabled(grad):
        results = call(*mine)
    results = [results] if isinstance(results, torch.Tensor) else list(results)
    aliases = [[i for i, x in enumerate(mine) if storage(x) and storage(x) == storage(y)] for y in results]
    ran = Ran([y.detach().clone() for y in results], list(mine), [x.detach().clone() for x in buffers], aliases)
    with torch.no_grad():
        for buffer, before in zip(buffers, kept):
            put_back(buffer, before)
    return ran


def held_once(x: torch.Tensor) -> torch.Tensor:
    """Returns a view without the repeated elements of an expanded tensor, which can be written to."""
    for dim, stride in enumerate(x.stride()):
        x = x.narrow(dim, 0, 1) if stride == 0 and x.shape[dim] > 1 else x
    return x


def put_back(buffer: torch.Tensor, before: torch.Tensor) -> None:
    """Gives the buffer its values of before."""
    held_once(buffer).copy_(held_once(before))


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Returns True if all elements are equal, any NaN to any other."""
    if a.dtype != b.dtype or a.shape != b.shape or a.layout != b.layout:
        return False
    if a.layout != torch.strided or a.is_quantized:
        return bool(torch.equal(a.to_dense() if not a.is_quantized else a, b.to_dense() if not b.is_quantized else b))
    if a.dtype is torch.complex32:
        return same(torch.view_as_real(a), torch.view_as_real(b))
    if a.is_floating_point() or a.is_complex():
        numbers = [torch.where(x.isnan(), 0, x) for x in (a, b)]
        return bool(torch.equal(*numbers) and torch.equal(a.isnan(), b.isnan()))
    return bool(torch.equal(a, b))


def difference(ours: Ran, theirs: Ran) -> str:
    """Empty where there is none."""
    for what, one in PARTS.items():
        mine, other = getattr(ours, what), getattr(theirs, what)
        if len(mine) != len(other):
            return f"it has {len(mine)} {what}, the original has {len(other)}"
        for i, (a, b) in enumerate(zip(mine, other)):
            if not same(a, b):
                kinds = f"{a.dtype} {list(a.shape)}, the original's {b.dtype} {list(b.shape)}"
                return f"{one} {i} is another ({kinds})"
    if ours.aliases != theirs.aliases:
        return "its results share memory with other inputs than the original's"
    return ""


def others_of(inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Other numbers of the same size, but for integers, which may be indices."""
    made = copies(inputs)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for x in made:
            if x.is_floating_point() and x.layout == torch.strided and not x.is_quantized and x.device.type == "cpu":
                once = held_once(x)
                noise = torch.rand(once.shape, generator=generator).to(x.dtype)
                once.mul_(noise.add_(0.5))
    return made


def fixed_by_data(flat: Flat, script: Any, inputs: tuple[torch.Tensor, ...], buffers: Tensors, its: Tensors) -> str:
    """A trace takes down what ran: where a branch or a number depends on data, it is as these inputs had it."""
    others = others_of(inputs)
    try:
        theirs = run(flat, others, buffers, flat.grad)
    except Exception:
        return ""  # it takes no others
    try:
        with torch.jit.optimized_execution(False):
            found = difference(run(script, others, its, flat.grad), theirs)
    except Exception:
        found = "it raises"
    return "what its data decides (a branch, a number) is as these inputs have it" if found else ""


def require_agreement(flat: Flat, script: Any, inputs: tuple[torch.Tensor, ...]) -> str:
    """Throws Refused where they differ. A sentence on what is not sure, else an empty text."""
    buffers, its_buffers = dict(flat.named_buffers()), dict(script.named_buffers())
    if missing := [name for name in buffers if name not in its_buffers]:
        raise Refused(f"cannot be converted: buffer {missing[0]} is lost")
    theirs, again = (run(flat, inputs, list(buffers.values()), flat.grad) for _ in range(2))
    with torch.jit.optimized_execution(False):
        ours = run(script, inputs, [its_buffers[name] for name in buffers], flat.grad)
    if difference(theirs, again):
        return "the original differs from itself when it is run twice, so that the conversion could not be checked"
    if found := difference(ours, theirs):
        raise Refused(f"cannot be converted: traced to TorchScript, {found}")
    return fixed_by_data(flat, script, inputs, list(buffers.values()), [its_buffers[name] for name in buffers])
