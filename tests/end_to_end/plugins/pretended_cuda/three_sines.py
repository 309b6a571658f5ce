"""A backend of torch.compile that is wrong."""

import torch


def three_sines_are_tangents(graph_module, inputs):
    sines = [node for node in graph_module.graph.nodes if node.target is torch.sin]
    for node in sines if len(sines) > 2 else ():
        node.target = torch.tan
    graph_module.recompile()
    return graph_module
