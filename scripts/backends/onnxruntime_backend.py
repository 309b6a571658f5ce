#!/usr/bin/env python3
"""ONNX Runtime as a backend of repro-minify.

    repro-minify failing.pt --backend 'command:python3 scripts/backends/onnxruntime_backend.py --serve'

Exports a TorchScript model to ONNX, runs that with ONNX Runtime on the CPU, and writes what it returns. What goes wrong
ends in one line on standard error and exit code 1: "export: ..." where the exporter refuses the model,
"onnxruntime: ..." where ONNX Runtime does. Needs the Python packages torch, numpy, onnx and onnxruntime. With --serve,
as the last word, it is started once for all checks.
"""

import argparse
import contextlib
import io
import os
import sys
import warnings

from serve import seed_generators, serve

# A reduction makes hundreds of sessions; and what uploads is a thread, which a fork does not copy.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# GraphOptimizationLevel of onnxruntime.
LEVELS = {
    "none": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}


def export(model, inputs, opset):
    """The model as the bytes of an ONNX file, its inputs named input_0, input_1, ..."""
    import torch

    file = io.BytesIO()
    names = [f"input_{i}" for i in range(len(inputs))]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(model, inputs, file, input_names=names, opset_version=opset, dynamo=False)
    return file.getvalue()


def run(onnx_model, inputs, level, without):
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[level])
    options.log_severity_level = 4  # what is wrong comes as an exception too
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        onnx_model, options, providers=["CPUExecutionProvider"], disabled_optimizers=without
    )
    # The exporter leaves out inputs that nothing reads.
    feed = {one.name: inputs[int(one.name.removeprefix("input_"))].detach().numpy() for one in session.get_inputs()}
    return [torch.from_numpy(result) for result in session.run(None, feed)]


def load_what_takes_long():
    """All that is imported for any model; the exporter has parts that it imports when it is first used."""
    import onnxruntime  # noqa: F401
    import torch

    torch.set_num_threads(1)
    export(torch.jit.script(torch.nn.Identity()), (torch.zeros(1),), opset=18)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optimise", choices=LEVELS, default="all", help="level of ONNX Runtime's graph optimisations")
    parser.add_argument("--without", action="append", metavar="NAME", help="an optimiser of ONNX Runtime to leave out")
    parser.add_argument("--opset", type=int, default=18, help="version of ONNX's operators")
    parser.add_argument("model")
    parser.add_argument("inputs")
    parser.add_argument("outputs")
    given = parser.parse_args()

    import torch

    torch.set_num_threads(1)
    seed_generators()
    model, inputs = torch.jit.load(given.model), torch.load(given.inputs)
    step = "export"
    try:
        with torch.no_grad():
            onnx_model = export(model, inputs, given.opset)
        step = "onnxruntime"
        outputs = run(onnx_model, inputs, given.optimise, given.without)
    except Exception as error:
        sys.exit(f"{step}: {type(error).__name__}: {' '.join(str(error).split())[:1000]}")
    torch.save(outputs, given.outputs)


if __name__ == "__main__":
    if sys.argv[-1] == "--serve":
        load_what_takes_long()
        serve(main)
    main()
