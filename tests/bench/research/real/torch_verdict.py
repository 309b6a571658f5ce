#!/usr/bin/env python3
"""PyTorch's own verdict on a model under a backend: Python's torch alone, none of this project's code.

    torch_verdict.py FOLDER BACKEND       FOLDER holds model.pt and inputs.pt; prints one line of JSON

The reference is the TorchScript interpreter without optimisation; each of three calls through the backend is judged by
torch._dynamo.utils.same, with a float64 run as the arbiter where the model can be run so. For `inductor` it is the
Python module that the archive was made from, through torch.compile.

    verdict   same     the backend gives what eager gives
              wrong    it does not; why: which call, which result
              raises   it raises; why: what
              eager    eager itself raises or gives something else each time; why
              none     nothing in Python does what this backend does (inductor-like)
"""

import argparse
import json
import logging
import sys
import warnings
from pathlib import Path

import torch
from torch._dynamo.utils import same
from torch.utils import _pytree as pytree

CALLS = 3
BACKENDS = ["eager", "jit", "nnc", "freeze", "optimize-for-inference", "static-runtime", "autocast", "inductor"]


def copied(values):
    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), values)


def call(function, inputs, autocast=False):
    torch.manual_seed(0)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        return copied(function(*copied(inputs)))


def loaded(folder):
    return torch.jit.load(folder / "model.pt").eval()


def in_double(folder, inputs):
    """Returns the result of a float64 run, or None if it raises: constants inside a trace can hold it to float32."""
    wide = pytree.tree_map_only(torch.Tensor, lambda t: t.double() if t.is_floating_point() else t, inputs)
    try:
        with torch.jit.optimized_execution(False):
            return call(loaded(folder).double(), wide)
    except Exception:
        return None


def fuse_on_the_cpu():
    torch._C._jit_set_te_must_use_llvm_cpu(False)
    torch._C._jit_override_can_fuse_on_cpu(True)
    torch._C._jit_set_texpr_fuser_enabled(True)
    torch.set_num_threads(1)


def python_module(folder):
    import make  # imports every family

    torch.manual_seed(0)
    model = make.models()[folder.name]()
    model.module.eval()
    return model.module


def optimised(folder, backend):
    """Callable as the module is; what it runs under is set in this process."""
    if backend == "nnc":
        fuse_on_the_cpu()
    if backend == "inductor":
        torch._inductor.config.fallback_random = True
        return torch.compile(python_module(folder))
    module = loaded(folder)
    if backend == "freeze":
        module = torch.jit.freeze(module)
    elif backend == "optimize-for-inference":
        module = torch.jit.optimize_for_inference(torch.jit.freeze(module))
    elif backend == "static-runtime":
        return torch._C._jit_to_static_module(torch.jit.freeze(module, optimize_numerics=False)._c)
    plain = backend in ("eager", "freeze", "optimize-for-inference")

    def run(*inputs):
        with torch.jit.optimized_execution(not plain):
            return module(*inputs)

    return run


def agree(expected, found, wide):
    """Returns the answer of `same`, which looks into lists and tuples, tensors and numbers."""
    return same(expected, found, fp64_ref=wide, cos_similarity=False, tol=1e-4, equal_nan=True)


def verdict(folder, backend):
    autocast = backend == "autocast"
    inputs = torch.load(folder / "inputs.pt")
    with torch.jit.optimized_execution(False):
        reference = python_module(folder) if backend == "inductor" else loaded(folder)
        try:
            expected, again = (call(reference, inputs, autocast) for _ in range(2))
        except Exception as error:
            return "eager", f"raises {sentence(error)}"
    if not agree(expected, again, None):
        return "eager", "gives something else each time"
    wide = None if backend == "inductor" else in_double(folder, inputs)
    del reference
    try:
        function = optimised(folder, backend)
        results = [call(function, inputs, autocast) for _ in range(CALLS)]
    except Exception as error:
        return "raises", sentence(error)
    for index, found in enumerate(results):
        if not agree(expected, found, wide):
            return "wrong", f"call {index + 1}" + ("" if wide is not None else ", no float64 reference")
    return "same", "" if wide is not None else "no float64 reference"


def sentence(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "")
    return f"{type(error).__name__}: {last}"[:300]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("backend")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    if arguments.backend not in BACKENDS:
        answer = ("none", "nothing in Python does this")
    else:
        answer = verdict(arguments.folder, arguments.backend)
    print(json.dumps({"verdict": answer[0], "why": answer[1]}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
