"""OpenVINO on the CPU. It computes in float32 here, as eager does: left to itself it takes bfloat16 on a CPU that has
it, and every model of some depth then differs (precision=default is that)."""

import os

import openvino
import torch

TITLE = "OpenVINO"
NEEDS = ("openvino", "packaging")
CONVERTER = ("openvino.convert_model", "openvino.Model.evaluate", "component: PyTorch frontend, or the reference")


def config(precision):
    return {} if precision == "default" else {"INFERENCE_PRECISION_HINT": precision}


def compile(program, inputs, precision="f32"):
    threads = {"INFERENCE_NUM_THREADS": torch.get_num_threads()}
    model = openvino.Core().compile_model(openvino.convert_model(program), "CPU", {**config(precision), **threads})

    def call(*inputs):
        results = model([x.numpy() for x in inputs])
        return [results[place] for place in range(len(results))]

    return call


def converted(program, inputs):
    model = openvino.convert_model(program)

    def call(*inputs):
        sizes = [(each.get_element_type(), each.get_partial_shape().get_min_shape()) for each in model.outputs]
        results = [openvino.Tensor(*each) for each in sizes]
        model.evaluate(results, [openvino.Tensor(x.numpy()) for x in inputs])
        return [each.data for each in results]

    return call


def steps():
    return ["bfloat16, which OpenVINO takes by default on a CPU that has it (INFERENCE_PRECISION_HINT)"]


def without(step):
    return {"precision": "f32"}


def artefact(program, inputs, folder, **_):
    openvino.save_model(openvino.convert_model(program), os.path.join(folder, "model.xml"), compress_to_fp16=False)


def as_written(precision="f32"):
    given = f", {config(precision)}" if config(precision) else ""
    return f"""
        import openvino
        converted = openvino.convert_model(torch.export.export(model, inputs))
        compiled = openvino.compile_model(converted, "CPU"{given})
        found = [torch.as_tensor(x) for x in compiled([x.numpy() for x in inputs]).values()]"""


def tracker():
    return {
        "url": "https://github.com/openvinotoolkit/openvino/issues",
        "title": "[Bug]: ",
        "fields": [
            ["OpenVINO Version", "version"],
            ["Operating System", "os"],
            ["Device used for inference", "=CPU"],
            ["Framework", "=PyTorch"],
            ["Model used", "attached"],
            ["Issue description", "problem"],
            ["Step by step reproduction", "script"],
            ["Relevant log output", "log"],
            ["Versions", "versions"],
        ],
    }
