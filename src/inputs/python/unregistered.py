"""Operators that a file calls, and that nothing has registered in this process."""

import re
from collections.abc import Iterable

import torch

import fx_groups
from fx_call import load_higher_order
from refused import Refused

CALLED = re.compile(r"\btorch\.ops\.(\w+)\.(\w+)")


def is_registered(namespace: str, operator: str) -> bool:
    if namespace == "higher_order":
        load_higher_order(operator)
    if namespace == fx_groups.NAMESPACE:
        fx_groups.join()
    return hasattr(getattr(torch.ops, namespace), operator)


def refusal(operator: str, without_results: bool = False) -> Refused:
    """Says what to do. `without_results`: the file does not say what the operator gave, which could be an input."""
    gave = ", and does not say what that gave" * without_results
    return Refused(
        f"calls {operator}, an operator that PyTorch does not have{gave}: where a shared library "
        "registers it, name that with --load-library FILE.so; where a module of Python does, name it with --import "
        "MODULE"
    )


def refuse_unregistered(texts: Iterable[str]) -> None:
    """Raises Refused with the name of the first, where `texts` name operators as Python does: torch.ops.foo.bar."""
    for namespace, operator in dict.fromkeys(found for text in texts for found in CALLED.findall(text)):
        if not is_registered(namespace, operator):
            raise refusal(f"{namespace}::{operator}")
