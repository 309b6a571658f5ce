"""A fault for programs of torch.fx, and an operator of Python's own: the module that --import names for fx_random.py.

TorchInductor is told to multiply a result by 1.5 where it has been made of others by a chain of calls: it takes all of
a chain, in its order, whatever stands between them.
"""

import torch
import torch._inductor.config
from torch.fx import Graph, Node

aten = torch.ops.aten
CHAINS = ((torch.asinh, torch.atan), (torch.tanh, torch.erf, torch.sinh))
OVERLOADS = tuple(tuple(getattr(aten, call.__name__).default for call in chain) for chain in CHAINS)


@torch.library.custom_op("fx_fault::shifted", mutates_args=())
def shifted(x: torch.Tensor) -> torch.Tensor:
    return x + 0.25


@shifted.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def reached(node: Node, chain: tuple[object, ...]) -> bool:
    """True if the node is of the last call of the chain, and is made of the others in their order."""
    if node.target is not chain[-1]:
        return False
    if len(chain) == 1:
        return True
    seen, waiting = set[Node](), list(node.all_input_nodes)
    while waiting:
        given = waiting.pop()
        if given not in seen:
            seen.add(given)
            waiting += given.all_input_nodes
    return any(reached(given, chain[:-1]) for given in seen)


def fault(graph: Graph) -> None:
    for node in list(graph.nodes):
        if any(reached(node, chain) for chain in OVERLOADS):
            with graph.inserting_after(node):
                wrong = graph.call_function(aten.mul.Tensor, (node, 1.5))
            wrong.meta = dict(node.meta)
            node.replace_all_uses_with(wrong, delete_user_cb=lambda user, wrong=wrong: user is not wrong)


torch._inductor.config.post_grad_custom_pre_pass = fault
