"""Turns what a user gives as inputs into the arguments of a call, by the rules of docs/inputs.md."""

from typing import Any

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def is_named(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


def arguments_of_call(inputs: Any) -> Arguments:
    """A tuple or list: the arguments in order; a dict: by name; (args, kwargs); anything else: the one argument."""
    if isinstance(inputs, (tuple, list)):
        if len(inputs) == 2 and isinstance(inputs[0], (tuple, list)) and is_named(inputs[1]):
            return tuple(inputs[0]), dict(inputs[1])
        return tuple(inputs), {}
    if is_named(inputs):
        return (), dict(inputs)
    return (inputs,), {}
