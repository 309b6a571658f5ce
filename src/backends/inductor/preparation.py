"""What the warm parent does once, so that no child has to: its settings made, its header built."""

import contextlib
import ctypes
import os
import tempfile
from pathlib import Path
from unittest import mock

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # the parent must not touch CUDA: its children could not

import torch
import torch._dynamo
import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config
from torch._inductor import codecache, cpu_vec_isa
from torch._inductor.cpp_builder import CppBuilder

import entries
import kept_headers
import lent_probes


def prepare(folder, given):
    """What every child inherits. Nothing here may start a thread: a fork copies only the one that forks."""
    entries.check_entries(given)
    torch.set_num_threads(1)
    kept = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR", folder))
    with mock.patch.object(cpu_vec_isa.VecISA, "_probe_load", load_in_fork, create=True):
        if not any(kept.glob("??/*.so")):
            compile_probes()
        cpu_vec_isa.pick_vec_isa()  # from PyTorch's own cache where it has been asked before
    kept_by_us = kept / "headers"
    headers = Path(getattr(codecache, "_HEADER_DIR", kept_by_us))
    if "TMPDIR" in os.environ:  # else it is anybody's
        lent_probes.lend(kept, headers.parent)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    tempfile.tempdir = folder
    inductor_config.compile_threads = 1
    inductor_config.fx_graph_cache = False
    inductor_config.fallback_random = True  # the numbers that eager draws
    functorch_config.enable_autograd_cache = False
    with kept_headers.kept(kept_by_us, headers):
        warm_up()
    entries.configure()  # a fault that is injected is for the candidates


def compile_probes():
    """What the processor can do is asked with libraries, a second each to compile: all at once rather than in a row.
    What cannot be asked so is asked afterwards."""
    asked = []
    for isa in getattr(cpu_vec_isa, "supported_vec_isa_list", []):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(Exception):
                flags = set(str(isa).split())
                os._exit(0 if flags <= set(cpu_vec_isa.x86_isa_checker()) and bool(isa) else 1)
            os._exit(1)
        asked.append(pid)
    for pid in asked:
        os.waitpid(pid, 0)


def warm_up():
    """TorchInductor imports and prepares much when it first compiles."""
    module = torch.compile(lambda x: torch.ops.aten.amin.default(torch.ops.aten.mul.Tensor(x, x)))
    with torch.no_grad(), only_headers_built(), contextlib.suppress(Exception):  # the candidates will tell
        module(torch.ones(16))
    torch._dynamo.reset()


@contextlib.contextmanager
def only_headers_built():
    """The header that all kernels share is compiled in advance unless PyTorch has kept it; the first kernel itself
    tells nothing that is worth the wait."""
    build = CppBuilder.build

    def build_headers(builder):
        if not (getattr(builder, "_precompiling", True) or getattr(builder, "_preprocessing", True)):
            raise Enough
        return build(builder)

    with mock.patch.object(CppBuilder, "build", build_headers):
        yield


class Enough(Exception):
    """What was wanted has been built."""


def load_in_fork(_isa, path):
    """Whether a library can be loaded. PyTorch starts a Python for each test of the processor; a fork does as well."""
    pid = os.fork()
    if pid == 0:
        try:
            ctypes.CDLL(path)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0
