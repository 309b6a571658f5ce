"""An nn.Module of a TorchScript one: the same parameters and buffers, the operators as Python."""

import importlib

import torch

from calls import attribute_name, graph_of
from translate import MODULES, translate


SOURCE_NAME = "<candidate>"


def make_module(script):
    """(nn.Module, its forward's source): the same parameters and buffers, the operators as Python."""
    lines, constants = translate(script)
    space = {"torch": torch, **{name: importlib.import_module(name) for name in MODULES}}
    source = "\n".join(["class Repro(torch.nn.Module):", *lines])
    exec(compile(source, SOURCE_NAME, "exec"), space)
    module = space["Repro"]()
    for name, parameter in script.named_parameters():
        module.register_parameter(attribute_name(name), torch.nn.Parameter(parameter.detach(), parameter.requires_grad))
    for name, buffer in script.named_buffers():
        module.register_buffer(attribute_name(name), buffer)
    for name, constant in constants.items():
        if isinstance(constant, torch.Tensor):
            module.register_buffer(name, constant, persistent=False)
        else:
            setattr(module, name, constant)
    for name in attributes_read(script):
        if not hasattr(module, attribute_name(name)):  # an object of a C++ class: packed parameters
            setattr(module, attribute_name(name), getattr(script, name))
    return module.eval(), source


def attributes_read(script):
    """Returns the names of the attributes of the module itself that forward reads."""
    graph = graph_of(script)
    own = next(graph.inputs()).debugName()
    nodes = graph.findAllNodes("prim::GetAttr", recurse=True)
    return {node.s("name") for node in nodes if node.input().debugName() == own}


def named_tensors(script):
    return [*script.named_parameters(), *script.named_buffers()]
