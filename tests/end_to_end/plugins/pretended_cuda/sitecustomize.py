"""Python reads this first where its folder is on PYTHONPATH and preload.c is preloaded: a script that imports torch, as
repro.py does, then finds the pretended device there."""

import ctypes
import importlib.abc
import importlib.util
import sys


def use_the_device():
    import torch

    torch.cuda._initialized = True
    torch.cuda.synchronize = lambda device=None: None
    torch.cuda.empty_cache = lambda: None
    torch.cuda.memory_allocated = lambda device=None: 0
    torch.cuda.is_available = lambda: True
    torch.cuda.is_bf16_supported = lambda including_emulation=True: True
    torch.cuda.get_rng_state = lambda device=None: torch.zeros(0, dtype=torch.uint8)
    torch.cuda.set_rng_state = lambda state, device=None: None
    seed = ctypes.CDLL(None).pretended_cuda_seed
    torch.cuda.manual_seed = torch.cuda.manual_seed_all = lambda value: seed(ctypes.c_uint64(int(value)))


class WithTorch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch" or not hasattr(ctypes.CDLL(None), "pretended_cuda_load"):
            return None
        ctypes.CDLL(None).pretended_cuda_load()
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_use_the_device(module):
            execute(module)
            use_the_device()

        spec.loader.exec_module = execute_and_use_the_device
        return spec


sys.meta_path.insert(0, WithTorch())
