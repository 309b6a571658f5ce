"""The sets of instructions that the processor has, as PyTorch finds them out: it compiles a library for each, a second
or two each, and loads it."""

import ctypes
import os
from unittest import mock

import torch._inductor.config as inductor_config
from torch._inductor import cpu_vec_isa


def settle(configured):
    """Finds out which set of instructions to use, for all children. PyTorch takes the first that works unless another
    is configured, so the others are not asked. True if it is the one that was `believed`."""
    named = any(key in ("cpp.simdlen", "cpp.vec_isa_ok") for key, _ in configured)
    is_open = inductor_config.cpp.simdlen is None and "ATEN_CPU_CAPABILITY" not in os.environ
    as_believed = False
    if is_open and not named:
        sets = sets_of_this_processor()
        first = next((isa for isa in sets if isa), None)
        if first is not None:
            cpu_vec_isa.valid_vec_isa_list = lambda: [first]
            as_believed = first is sets[0]
    cpu_vec_isa.pick_vec_isa()
    return as_believed


def ask_all():
    """Asks all that PyTorch asks where nothing is settled; its own cache answers what has been asked before."""
    for isa in sets_of_this_processor():
        bool(isa)


def sets_of_this_processor():
    """Returns the sets of instructions that are asked with a library each; none on other processors than x86."""
    flags = set(cpu_vec_isa.x86_isa_checker())
    return [isa for isa in getattr(cpu_vec_isa, "supported_vec_isa_list", []) if set(str(isa).split()) <= flags]


def believed():
    """While this lasts every test is passed: what the answer will be on a machine whose compiler knows its
    processor."""
    return mock.patch.object(cpu_vec_isa.VecISA, "check_build", lambda *_: True)


def asked_in_forks():
    return mock.patch.object(cpu_vec_isa.VecISA, "_probe_load", load_in_fork, create=True)


def load_in_fork(_isa, path):
    """True if a library can be loaded. PyTorch starts a Python for each test of the processor; a fork does as well."""
    pid = os.fork()
    if pid == 0:
        try:
            ctypes.CDLL(path)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0
