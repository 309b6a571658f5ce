"""list_operators.py MODEL.pt: the operators of forward with every call inlined, once each, one a line."""

import sys

import torch


def kinds(block):
    for node in block.nodes():
        yield node.kind()
        for inner in node.blocks():
            yield from kinds(inner)


if __name__ == "__main__":
    print("\n".join(sorted(set(kinds(torch.jit.load(sys.argv[1]).inlined_graph)))))
