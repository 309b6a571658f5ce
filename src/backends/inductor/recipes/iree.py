"""IREE on the CPU (llvm-cpu, local-sync), of what its importer makes of the exported program."""

import os

import iree.compiler
import iree.runtime
from iree.turbine import aot

TITLE = "IREE"
NEEDS = ("iree-base-compiler", "iree-base-runtime", "iree-turbine")


def compile(program, inputs, opt_level="O0"):
    flags = ["--iree-llvmcpu-target-cpu=host", f"--iree-opt-level={opt_level}"]
    binary = iree.compiler.compile_str(
        str(aot.export(program).mlir_module), target_backends=["llvm-cpu"], input_type="torch", extra_args=flags
    )
    module = iree.runtime.load_vm_flatbuffer(binary, driver="local-sync")

    def call(*inputs):
        results = module.main(*[x.numpy() for x in inputs])
        return [x.to_host() for x in (results if isinstance(results, (list, tuple)) else [results])]

    return call


def artefact(program, inputs, folder, **_):
    aot.export(program).save_mlir(os.path.join(folder, "model.mlir"))


def as_written(opt_level="O0"):
    flags = ["--iree-llvmcpu-target-cpu=host", f"--iree-opt-level={opt_level}"]
    return f"""
        import iree.compiler
        import iree.runtime
        from iree.turbine import aot
        converted = str(aot.export(torch.export.export(model, inputs)).mlir_module)
        how = dict(target_backends=["llvm-cpu"], input_type="torch", extra_args={flags})
        module = iree.runtime.load_vm_flatbuffer(iree.compiler.compile_str(converted, **how), driver="local-sync")
        results = module.main(*[x.numpy() for x in inputs])
        found = [torch.as_tensor(x.to_host()) for x in torch.utils._pytree.tree_leaves(results)]"""


def tracker():
    return {
        "url": "https://github.com/iree-org/iree/issues",
        "fields": [
            ["What happened?", "problem"],
            ["Steps to reproduce your issue", "script attached"],
            ["What component(s) does this issue relate to?", "=Frontends, Compiler"],
            ["Version information", "versions"],
            ["Additional context", "log"],
        ],
    }
