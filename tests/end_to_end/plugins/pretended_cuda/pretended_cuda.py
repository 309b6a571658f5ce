"""Gives the Python that works for repro-minify the device of pretended_cuda.cpp, and a backend of torch.compile that is
wrong."""

import torch

torch.cuda._initialized = True
torch.cuda.synchronize = lambda device=None: None
torch.cuda.empty_cache = lambda: None
torch.cuda.memory_allocated = lambda device=None: 0


def three_sines_are_tangents(graph_module, inputs):
    sines = [node for node in graph_module.graph.nodes if node.target is torch.sin]
    for node in sines if len(sines) > 2 else ():
        node.target = torch.tan
    graph_module.recompile()
    return graph_module
