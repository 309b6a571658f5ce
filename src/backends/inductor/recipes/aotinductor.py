"""AOTInductor: TorchInductor ahead of time, as a package that C++ loads."""

import os
import tempfile

import torch
import torch._inductor

TITLE = "AOTInductor"
NEEDS = ("torch",)
UNTOLD = {"aot_inductor.precompile_headers": False}  # for one program that takes longer than to read them


def packaged(program, folder):
    known = {key: value for key, value in UNTOLD.items() if key in torch._inductor.config._config}
    path = os.path.join(folder, "model.pt2")
    return torch._inductor.aoti_compile_and_package(program, package_path=path, inductor_configs=known)


def compile(program, inputs):
    run = torch._inductor.aoti_load_package(packaged(program, tempfile.mkdtemp()))

    def call(*inputs):
        results = run(*inputs)
        return results if isinstance(results, (list, tuple)) else [results]

    return call


def artefact(program, inputs, folder):
    packaged(program, folder)


def as_written():
    return """
        package = torch._inductor.aoti_compile_and_package(torch.export.export(model, inputs))
        results = torch._inductor.aoti_load_package(package)(*inputs)
        found = results if isinstance(results, (list, tuple)) else [results]"""


def tracker():
    return {"project": "pytorch"}
