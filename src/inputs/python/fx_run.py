"""Runs a TorchScript graph of torch.fx calls in Python, as only Python has what they call."""

from typing import Any

import fx_call


def result_of(node: Any, operands: list[Any]) -> Any:
    kind = node.kind()
    if kind.startswith("fx::"):
        result = fx_call.Call(operands[0], operands[1:]).run()
        return list(result) if kind.rstrip("_") == "fx::tensors" else result
    if kind == "aten::__getitem__":
        return operands[0][operands[1]]
    if kind == "prim::GetAttr":
        return getattr(operands[0], node.s("name"))
    if kind == "aten::slice":
        return operands[0][slice(*operands[1:])]
    if kind == "prim::TupleConstruct":
        return tuple(operands)
    if kind == "prim::ListConstruct":
        return operands
    raise NotImplementedError(kind)


def run(script: Any, inputs: tuple[Any, ...]) -> Any:
    """Returns what forward returns."""
    graph = script.graph  # its nodes live as long as it does
    names = [value.debugName() for value in graph.inputs()]
    values: dict[str, Any] = dict(zip(names, (script, *inputs), strict=True))
    for node in graph.nodes():
        outputs = [value.debugName() for value in node.outputs()]
        if node.kind() == "prim::Constant":
            values[outputs[0]] = node.output().toIValue()
            continue
        result = result_of(node, [values[value.debugName()] for value in node.inputs()])
        if outputs:
            values[outputs[0]] = result
    (given,) = (values[value.debugName()] for value in graph.outputs())
    return given
