"""Tells whether this process or others have the memory of the CUDA device that an error says is used up."""

import torch


def held_by_others():
    """Returns, after an error that the device's memory ran out, why that says nothing of the program that this process
    ran: others hold more than a quarter of it. Empty where this process has the rest."""
    try:
        free, total = torch.cuda.mem_get_info()
    except RuntimeError:
        return "the device has no memory left for another process"
    others = total - free - torch.cuda.memory_reserved()
    if others <= total // 4:
        return ""
    return f"the memory of the device ran out: other processes hold {others >> 20} MiB of its {total >> 20} MiB"
