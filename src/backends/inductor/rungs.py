"""Parts of what AOTAutograd does, each as a backend of torch.compile: which of them is at fault?"""

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo import register_backend


@register_backend(name="functionalize")
def functionalize(graph_module, _):
    """Writes in place become values; every operator runs as eager runs it."""
    return torch.func.functionalize(graph_module)


@register_backend(name="decompositions")
def decompositions(graph_module, _):
    """The operators that have a decomposition in Python run that."""

    def call(*arguments):
        with enable_python_dispatcher():
            return graph_module(*arguments)

    return call
