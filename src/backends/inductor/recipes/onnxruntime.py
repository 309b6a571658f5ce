"""ONNX Runtime on the CPU, given what torch.onnx.export makes. docs/recipes.md says what each name here is for."""

import contextlib
import functools
import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # what uploads is a thread, which a fork does not copy

import onnx.reference
import onnxruntime
import torch

TITLE = "ONNX Runtime"
NEEDS = ("onnxruntime", "onnx", "onnxscript")
CONVERTER = ("torch.onnx.export", "onnx.reference", "https://github.com/pytorch/pytorch/issues, module: onnx")
LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_LAYOUT", "ORT_ENABLE_ALL")


def compile(program, inputs, level="ORT_ENABLE_ALL", optimize=True, without=()):
    options, _ = onnxruntime.SessionOptions(), [x.numpy() for x in inputs]  # which raises for what no input can be
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.log_severity_level, options.intra_op_num_threads = 4, torch.get_num_threads()  # it raises, too
    model = to_onnx(program, optimize).model_proto.SerializeToString()
    session = onnxruntime.InferenceSession(model, options, disabled_optimizers=list(without))
    return lambda *inputs: session.run(None, {each.name: x.numpy() for each, x in zip(session.get_inputs(), inputs)})


def to_onnx(program, optimize=True):
    return torch.onnx.export(program, (), dynamo=True, verbose=False, optimize=optimize)


def converted(program, inputs):
    model = to_onnx(program, optimize=False).model_proto
    onnx.checker.check_model(model, full_check=True)  # raises for what ONNX does not allow
    names, reference = [each.name for each in model.graph.input], onnx.reference.ReferenceEvaluator
    return lambda *inputs: reference(model).run(None, {name: x.numpy() for name, x in zip(names, inputs)})


def prepare():
    with contextlib.suppress(ImportError, AttributeError):  # it reads its table anew each time, longer than all else
        from torch.onnx._internal.exporter._registration import ONNXRegistry

        ONNXRegistry.from_torchlib = staticmethod(functools.cache(ONNXRegistry.from_torchlib))
    to_onnx(torch.export.export(torch.nn.Identity(), (torch.zeros(1),)))


def steps():
    return ["onnxscript.optimizer", *LEVELS[1:]]


def without(step):
    return {"optimize": False} if step not in LEVELS else {"level": LEVELS[LEVELS.index(step) - 1]}


def artefact(program, inputs, folder, optimize=True, **_):
    to_onnx(program, optimize).save(os.path.join(folder, "model.onnx"))


def as_written(level="ORT_ENABLE_ALL", optimize=True, without=()):
    given, left_out = ", optimize=False" * (not optimize), f", disabled_optimizers={without!r}" * bool(without)
    chosen = level != LEVELS[-1]
    return f"""
        import onnxruntime
        exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True{given})
        {"options = onnxruntime.SessionOptions()" * chosen}
        {f"options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{level}" * chosen}
        session = onnxruntime.InferenceSession(exported.model_proto.SerializeToString(){", options" * chosen}{left_out})
        feed = {{each.name: x.numpy() for each, x in zip(session.get_inputs(), inputs)}}
        found = [torch.as_tensor(x) for x in session.run(None, feed)]"""


def tracker():
    fields = [
        ["Describe the issue", "problem"], ["To reproduce", "script attached"], ["Urgency", "=Not known."],
        ["Platform", "system"], ["OS Version", "os"], ["ONNX Runtime Installation", "=Released Package"],
        ["ONNX Runtime Version or Commit ID", "version"], ["ONNX Runtime API", "=Python"],
        ["Architecture", "architecture"], ["Execution Provider", "=Default CPU"],
        ["Execution Provider Library Version", "versions"],
    ]  # fmt: skip
    return {"url": "https://github.com/microsoft/onnxruntime/issues", "fields": fields}
