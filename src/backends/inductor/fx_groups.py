"""Collectives of one process: the group that they are called on, where a program of torch.fx calls any."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist

NAMESPACE = "_c10d_functional"
IMPORTS = ["import torch.distributed", "from torch.testing._internal.distributed.fake_pg import FakeStore"]
LINE = 'torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)'
"""The line of a repro.py that makes the group, for which it imports those."""


def join() -> None:
    """Makes this process the only one of a group, which no network is wanted for. Does nothing where it is in one."""
    if dist.is_available() and not dist.is_initialized():
        from torch.testing._internal.distributed.fake_pg import FakeStore

        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)


def is_called(nodes: Iterable[torch.fx.Node]) -> bool:
    """True if a node calls a collective."""
    return any(getattr(target(node), "namespace", "") == NAMESPACE for node in nodes)


def target(node: torch.fx.Node) -> Any:
    """The overload that a node calls, its packet, or what it calls else."""
    found: Any = node.target
    return found.default if isinstance(found, torch._ops.OpOverloadPacket) and "default" in found.overloads() else found
