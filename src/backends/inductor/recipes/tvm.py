"""Apache TVM: Relax, compiled for the CPU by LLVM."""

import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

TITLE = "TVM"
NEEDS = ("apache-tvm",)


def compile(program, inputs, pipeline="default"):
    module = from_exported_program(program)
    chosen = {} if pipeline == "default" else {"relax_pipeline": pipeline}
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm", **chosen), tvm.cpu())

    def call(*inputs):
        results = machine["main"](*[tvm.runtime.tensor(x.numpy()) for x in inputs])
        return [x.numpy() for x in (results if hasattr(results, "__len__") else [results])]

    return call


def version():
    return {"apache-tvm": tvm.__version__}


def as_written(pipeline="default"):
    chosen = "" if pipeline == "default" else f", relax_pipeline={pipeline!r}"
    return f"""
        import tvm
        from tvm import relax
        from tvm.relax.frontend.torch import from_exported_program
        converted = from_exported_program(torch.export.export(model, inputs))
        machine = relax.VirtualMachine(tvm.compile(converted, target="llvm"{chosen}), tvm.cpu())
        results = machine["main"](*[tvm.runtime.tensor(x.numpy()) for x in inputs])
        found = [torch.as_tensor(x.numpy()) for x in (results if hasattr(results, "__len__") else [results])]"""


def tracker():
    return {
        "url": "https://github.com/apache/tvm/issues",
        "title": "[Bug] ",
        "fields": [
            ["Expected behavior", "=What eager PyTorch computes."],
            ["Actual behavior", "problem"],
            ["Environment", "versions"],
            ["Steps to reproduce", "script"],
            ["Triage", "=* needs-triage"],
        ],
    }
