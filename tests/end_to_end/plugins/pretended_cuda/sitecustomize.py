"""Python reads this first where its folder is on PYTHONPATH, so that a script which imports torch, as repro.py does, finds
the pretended device there as the program does (LD_PRELOAD brings the device itself)."""

import ctypes
import importlib.abc
import importlib.util
import sys


def use_the_device():
    import pretended_cuda  # noqa: F401
    import torch

    torch.cuda.is_available = lambda: True
    torch.cuda.is_bf16_supported = lambda including_emulation=True: True
    seed = ctypes.CDLL(None).pretended_cuda_seed
    torch.cuda.manual_seed = torch.cuda.manual_seed_all = lambda value: seed(ctypes.c_uint64(int(value)))


class AfterTorch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_use_the_device(module):
            execute(module)
            use_the_device()

        spec.loader.exec_module = execute_and_use_the_device
        return spec


sys.meta_path.insert(0, AfterTorch())
