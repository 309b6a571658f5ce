"""Gives the Python that works for repro-minify the device of pretended_cuda.cpp, and a backend of torch.compile that is
wrong."""

import torch

torch.cuda._initialized = True
torch.cuda.synchronize = lambda device=None: None
torch.cuda.empty_cache = lambda: None
torch.cuda.memory_allocated = lambda device=None: 0


def sines_are_tangents(graph_module, inputs):
    for node in graph_module.graph.nodes:
        if node.target is torch.sin:
            node.target = torch.tan
    graph_module.recompile()
    return graph_module
