"""Devices that a program of torch.fx names: the CPU takes the place of one that this machine has not."""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch.fx.node import map_aggregate
from torch.utils import _pytree as pytree

from loaded import Noting, on_a_device_that_is_here

CUDA = re.compile(r"cuda(:\d+)?")


def moved(value: Any, note: Callable[[str], None]) -> Any:
    """A device, or its name among the arguments of a call, as a device that is here; any other value as it is."""
    is_name = isinstance(value, str) and CUDA.fullmatch(value)
    return on_a_device_that_is_here(torch.device(value) if is_name else value, note)


class Devices(Noting):
    """Runs calls on devices that are here; `notes` says where that is another one."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.cuda and not torch.cuda.is_available():
            return args[0]
        if func is torch.device:  # it makes nothing yet, and PyTorch's own functions ask what it would be
            return func(*args, **(kwargs or {}))
        args, kwargs = pytree.tree_map(lambda value: moved(value, self.note), (args, kwargs or {}))
        return func(*args, **kwargs)

    def move(self, graph: torch.fx.Graph) -> None:
        """Gives the calls of a graph the same devices as arguments."""
        for node in graph.nodes:
            if node.op == "call_method" and node.target == "cuda" and not torch.cuda.is_available():
                node.target, node.args, node.kwargs = "cpu", node.args[:1], {}
            if node.op.startswith("call_"):
                node.args = map_aggregate(node.args, lambda value: moved(value, self.note))
                node.kwargs = map_aggregate(node.kwargs, lambda value: moved(value, self.note))
