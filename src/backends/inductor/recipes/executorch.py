"""ExecuTorch: the program lowered to XNNPACK where that takes it, to the portable kernels where not."""

import os

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

TITLE = "ExecuTorch"
NEEDS = ("executorch",)


def lowered(program, delegate):
    partitioner = [XnnpackPartitioner()] if delegate == "xnnpack" else []
    return to_edge_transform_and_lower(program, partitioner=partitioner).to_executorch()


def compile(program, inputs, delegate="xnnpack"):
    buffer = lowered(program, delegate).buffer
    loaded = Runtime.get().load_program(buffer)
    method = loaded.load_method("forward")

    def call(*inputs, held=(buffer, loaded)):  # the method reads both, and owns neither
        return [x.clone() if isinstance(x, torch.Tensor) else torch.tensor(x) for x in method.execute(inputs)]

    return call


def steps():
    return ["XNNPACK"]


def without(step):
    return {"delegate": "none"}  # the portable kernels: a second witness


def artefact(program, inputs, folder, delegate="xnnpack"):
    with open(os.path.join(folder, "model.pte"), "wb") as file:
        file.write(lowered(program, delegate).buffer)


def as_written(delegate="xnnpack"):
    to_xnnpack = delegate == "xnnpack"
    imported = "from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner"
    chosen = ", partitioner=[XnnpackPartitioner()]" * to_xnnpack
    return f"""
        {imported * to_xnnpack}
        from executorch.exir import to_edge_transform_and_lower
        from executorch.runtime import Runtime
        edge = to_edge_transform_and_lower(torch.export.export(model, inputs){chosen})
        buffer = edge.to_executorch().buffer
        program = Runtime.get().load_program(buffer)
        method = program.load_method("forward")
        found = method.execute(inputs)"""


def tracker():
    return {
        "url": "https://github.com/pytorch/executorch/issues",
        "fields": [["🐛 Describe the bug", "problem script attached"], ["Versions", "versions"]],
    }
