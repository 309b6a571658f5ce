"""Between two checks of one child: takes back what the last one has changed, and says what of it is left.

A process that holds a device was dear to make, so a search on a device asks the same child again and again. The modes
that a check has set go, what it has compiled is forgotten, and the device has to be as it was. Where something is left,
repro-minify ends the child, and the answer of that check counts for nothing unless it was the first.
"""

import gc
import os

import torch
import torch._dynamo
import torch._inductor.utils

MAY_STAY = 64 << 20  # bytes of the device that libraries keep


class Device:
    """The CUDA device of this process, where it has used one."""

    @staticmethod
    def is_used():
        return torch.cuda.is_initialized()

    @staticmethod
    def adds():
        """Raises the error that an earlier kernel left pending. Returns 1 + 1, as the device adds."""
        torch.cuda.synchronize()
        one = torch.ones(1, device="cuda")
        return (one + one).item()

    @staticmethod
    def bytes_in_use():
        """Returns what tensors of this process take, after memory that none takes is given back to all processes."""
        torch.cuda.empty_cache()
        return torch.cuda.memory_allocated()


class Beginning:
    """How a process was before its first check."""

    def __init__(self, device):
        self.device = device
        self.modes = modes()
        self.least = None  # bytes in use after a check: what libraries keep for good is there after the first

    def left(self):
        """Takes back what a check has changed. Returns what is left of it in words; empty where nothing is."""
        take_back()
        changed = [name for name, value in modes().items() if value != self.modes[name]]
        if changed:
            return f"{', '.join(changed)} changed"
        return self.left_on_the_device() if self.device.is_used() else ""

    def left_on_the_device(self):
        if (two := self.device.adds()) != 2:
            return f"1 + 1 is {two} on the device"
        now = self.device.bytes_in_use()
        self.least = now if self.least is None else min(now, self.least)
        return f"{now - self.least} bytes more are in use" if now - self.least > MAY_STAY else ""


def take_back():
    """Forgets what was compiled in this process, and what autocast has converted."""
    torch._dynamo.reset()
    torch._inductor.utils.clear_caches()  # constants of a graph live in the module that was written for it
    torch.clear_autocast_cache()
    gc.collect()


def modes():
    """Returns by name what code may set for the whole process, and candidate.settings() does not set for each run."""
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    return {
        "the default dtype": torch.get_default_dtype(),
        "the default device": torch.get_default_device(),
        "autocast": [torch.is_autocast_enabled(device) for device in ("cpu", "cuda")],
        "the autocast cache": torch.is_autocast_cache_enabled(),
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "anomaly mode": torch.is_anomaly_enabled(),
        "function modes": torch._C._len_torch_function_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "denormals": (torch.tensor(1e-38) * 0.1).item(),
        "cuDNN": [cudnn.enabled, cudnn.benchmark, cudnn.deterministic],
        "attention": [cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled()],
        "sums in half precision": cuda.matmul.allow_fp16_reduced_precision_reduction,
        "the folder": os.getcwd(),
    }
