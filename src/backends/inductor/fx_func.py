"""torch.func's grad, vjp and jvp as calls with a graph (fx_levels.py); jacrev, jacfwd and hessian are made of them.

Their graphs run with gradients enabled, as torch.func enables them.
"""

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

import fx_modes
from fx_levels import Expansion, Folded, NoLevel, function_of

ENTER_GRAD, LEAVE_GRAD = function_of("_grad_increment_nesting"), function_of("_grad_decrement_nesting")
WRAP, UNWRAP = function_of("_wrap_for_grad"), function_of("_unwrap_for_grad")
MARK, GRADIENTS = function_of("_set_tensor_requires_grad"), function_of("_autograd_grad")
ALLOW = function_of("set_inplace_requires_grad_allowed")
NO_HOOKS, HOOKS = function_of("_saved_tensors_hooks_disable"), function_of("_saved_tensors_hooks_enable")
ENTER_JVP, LEAVE_JVP = function_of("_jvp_increment_nesting"), function_of("_jvp_decrement_nesting")
MAKE_DUAL, UNPACK_DUAL = function_of("_make_dual"), function_of("_unpack_dual")
ENTER_DUAL, LEAVE_DUAL = function_of("_enter_dual_level"), function_of("_exit_dual_level")
LOAD, FORWARD = function_of("_maybe_load_decompositions"), torch._C._set_fwd_grad_enabled
WHY_NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. "
    "Please open an issue with your use case."
)
ASIDE = (NO_HOOKS, HOOKS, ALLOW, FORWARD, LOAD, ENTER_DUAL, LEAVE_DUAL)
"""Functions that stand around a level and give nothing that a program reads."""


def differentiated(body: Any, argnums: tuple[int, ...], *arguments: torch.Tensor) -> Any:
    """Returns the gradients of what the graph gives first, then all that it gives."""

    def value_and_all(*given: torch.Tensor) -> Any:
        results = tuple(body(*given))
        return results[0], results

    gradients, (_, results) = torch.func.grad_and_value(value_and_all, tuple(argnums), has_aux=True)(*arguments)
    return (*gradients, *results)


def pulled(body: Any, count: int, outputs: int, *given: torch.Tensor) -> Any:
    """Returns what torch.func.vjp's function gives for cotangents of the outputs. `given` are the arguments of the
    graph, of which the first `count` are differentiated, and the cotangents."""
    others, cotangents = given[count:-outputs], given[-outputs:]
    _, pull = torch.func.vjp(lambda *primals: tuple(body(*primals, *others)), *given[:count])
    return pull(tuple(cotangents))


def pushed(body: Any, count: int, *given: torch.Tensor) -> Any:
    """Returns the outputs and their tangents, as torch.func.jvp. `given` are `count` arguments, their tangents, and
    arguments that are not differentiated."""
    primals, tangents, others = given[:count], given[count : 2 * count], given[2 * count :]
    results, moved = torch.func.jvp(lambda *duals: tuple(body(*duals, *others)), tuple(primals), tuple(tangents))
    return (*results, *moved)


WITH_GRADIENTS = (differentiated, pulled)
"""Calls whose graphs run with gradients enabled."""


def erase_switches(level: Folded) -> None:
    """Gradients are enabled in every level that wants them: the graph does not say so."""
    switches = level.of(fx_modes.set_grad_enabled)
    if switches and switches[0].args[0] is True:
        for node in (switches[0], switches[-1]):
            level.nodes.remove(node)
            level.graph.erase_node(node)


def fold_grad(level: Folded) -> None:
    """Folds a level of grad, grad_and_value, vjp or jacrev. Raises NoLevel where it is none."""
    erase_switches(level)
    wrapped, unwrapped = level.of(WRAP), level.of(UNWRAP)
    if any(node.args[1] != level.number for node in wrapped + unwrapped):
        raise NoLevel
    marking = level.of(MARK)
    for node in marking:
        node.replace_all_uses_with(node.args[0])  # type: ignore[arg-type]
    gradients = [node for node in level.graph.nodes
                 if node.target is GRADIENTS and set(node.args[1]) <= set(wrapped)]  # fmt: skip
    inside = [node for node in gradients if node in level.nodes]
    taken = [user for node in inside for user in node.users]
    calls = [node for node in level.nodes if node not in {*wrapped, *unwrapped, *marking, *inside, *taken}]
    if len(inside) == 1 and len(gradients) == 1:
        fold_differentiated(level, inside[0], wrapped, unwrapped, calls)
    elif not inside:
        fold_pulled(level, gradients, wrapped, unwrapped, calls)
    else:
        raise NoLevel
    level.erase([level.enter, *level.nodes, level.leave])


def fold_differentiated(
    level: Folded, gradient: Node, wrapped: list[Node], unwrapped: list[Node], calls: list[Node]
) -> None:
    outputs, inputs = list(gradient.args[0]), list(gradient.args[1])  # type: ignore[arg-type]
    if len(outputs) != 1 or len(gradient.args) > 2:
        raise NoLevel
    for node in wrapped:
        level.known[node] = level.argument(node.args[0])
    level.copy(calls)
    sources: list[Any] = [node.args[0] for node in unwrapped]
    values = list(dict.fromkeys([*outputs, *(one for one in sources if gradient not in one.args)]))
    places = {one: one.args[1] if gradient in one.args else len(inputs) + values.index(one) for one in sources}
    argnums = tuple(wrapped.index(node) for node in inputs)
    with level.graph.inserting_before(level.enter):
        given = (level.held(values), argnums, *level.arguments)
        level.put(differentiated, given, [(places[node.args[0]], node) for node in unwrapped])


def fold_pulled(
    level: Folded, gradients: list[Node], wrapped: list[Node], unwrapped: list[Node], calls: list[Node]
) -> None:
    """The outputs are calculated outside of the level; each call of vjp's function calculates them again."""
    graph = level.graph
    known: dict[Node, Any] = {node: node.args[0] for node in wrapped}
    with graph.inserting_before(level.enter):
        for node in calls:
            known[node] = graph.node_copy(node, lambda one: known.get(one, one))
    for node in unwrapped:
        node.replace_all_uses_with(known[node.args[0]])  # type: ignore[index]
    for gradient in gradients:
        outputs, inputs, cotangents = (list(part) for part in gradient.args[:3])  # type: ignore[arg-type]
        each = Folded(graph, level.module, level.enter, level.leave, level.number)
        for node in [*inputs, *(node for node in wrapped if node not in inputs)]:
            each.known[node] = each.argument(node.args[0])
        each.copy(calls)
        with graph.inserting_before(gradient):
            given = (each.held(outputs), len(inputs), len(outputs), *each.arguments, *cotangents)
            each.put(pulled, given, [(user.args[1], user) for user in gradient.users])
        each.erase([gradient, *gradient.users])


def fold_jvp(level: Folded) -> None:
    """Folds a level of jvp or jacfwd. Raises NoLevel where it is none."""
    duals, wrapped = level.of(MAKE_DUAL), level.of(WRAP)
    unwrapped, unpacked = level.of(UNWRAP), level.of(UNPACK_DUAL)
    parts = [part for node in unpacked for part in node.users]
    zeros = [node for node in level.of(torch.zeros_like) if node.args[0] in parts]
    if any(node.args[1] != level.number for node in wrapped + unwrapped):
        raise NoLevel
    for node in duals:
        level.known[node] = level.argument(node.args[0])
    tangents = [node.args[1] for node in duals]
    for node in wrapped:
        if node.users:
            level.known[node] = level.argument(node.args[0])
    aside = {*duals, *wrapped, *unwrapped, *unpacked, *parts, *zeros}
    level.copy(node for node in level.nodes if node not in aside)
    outputs = [node.args[0] for node in unpacked]
    places: dict[Node, Any] = {part: unpacked.index(part.args[0]) + part.args[1] * len(outputs) for part in parts}
    places |= {node: places[node.args[0]] + len(outputs) for node in zeros}  # type: ignore[index]
    if any(node.args[0] not in places for node in unwrapped):
        raise NoLevel
    with level.graph.inserting_before(level.enter):
        primals, others = level.arguments[: len(duals)], level.arguments[len(duals) :]
        given = (level.held(outputs), len(duals), *primals, *tangents, *others)  # type: ignore[arg-type]
        level.put(pushed, given, [(places[node.args[0]], node) for node in unwrapped])  # type: ignore[index]
    level.erase([level.enter, *level.nodes, level.leave])


class Differentiating(Expansion):
    """A level in which tensors want gradients."""

    def __init__(self, node: Node, number: int) -> None:
        super().__init__(node)
        self.modes = fx_modes.with_gradients(node.meta["modes"])
        self.number = number
        self.call(NO_HOOKS, WHY_NO_HOOKS)
        self.call(ENTER_GRAD)

    def wrapped(self, arguments: Sequence[Any], wanted: Sequence[int]) -> list[Node]:
        found = [self.call(WRAP, given, self.number) for given in arguments]
        for place in wanted:
            self.call(ALLOW, True)
            self.call(MARK, found[place])
            self.call(ALLOW, False)
        return found

    def unwrapped(self, results: Sequence[Any]) -> list[Node]:
        return [self.call(UNWRAP, result, self.number) for result in results]

    def leave(self) -> None:
        self.call(LEAVE_GRAD)
        self.call(HOOKS)

    def parts(self, gradient: Node, count: int) -> list[Node]:
        return [self.graph.call_function(operator.getitem, (gradient, i)) for i in range(count)]


def expanded_grad(node: Node, number: int) -> list[Node]:
    _, argnums, *arguments = node.args
    level = Differentiating(node, number)
    inner = level.wrapped(arguments, argnums)  # type: ignore[arg-type]
    results = level.run(inner)
    wanted = [inner[place] for place in argnums]  # type: ignore
    gradient = level.call(GRADIENTS, (results[0],), wanted, create_graph=True)
    found = level.unwrapped([*level.parts(gradient, len(wanted)), *results])
    level.leave()
    return found


def expanded_pulled(node: Node, number: int) -> list[Node]:
    _, count, outputs, *given = node.args
    level = Differentiating(node, number)
    inner = level.wrapped(given[:-outputs], range(count))  # type: ignore
    results = level.run(inner)
    level.unwrapped(results)
    level.leave()
    how = {"retain_graph": True, "create_graph": True}
    given_back = (list(results), inner[:count], list(given[-outputs:]))  # type: ignore
    return level.parts(level.call(GRADIENTS, *given_back, **how), count)  # type: ignore


def expanded_pushed(node: Node, number: int) -> list[Node]:
    """The outermost such level alone enters one of forward differentiation."""
    _, count, *given = node.args
    level = Expansion(node)
    alone = not node.meta.get("in jvp")
    level.call(ENTER_JVP)
    level.call(FORWARD, True)
    if alone:
        level.call(ENTER_DUAL)
    level.call(LOAD)
    pairs = zip(given[:count], given[count : 2 * count])  # type: ignore
    duals = [level.call(MAKE_DUAL, *pair, level=0) for pair in pairs]
    others = [level.call(WRAP, one, number) for one in given[2 * count :]]  # type: ignore
    results = level.run([*duals, *others])
    found: list[Node] = []
    for place in (0, 1):
        for result in results:
            part = level.call(UNPACK_DUAL, result, level=0)
            part = level.graph.call_function(operator.getitem, (part, place))
            found.append(level.call(UNWRAP, part, number))
    if alone:
        level.call(LEAVE_DUAL, level=0)
    level.call(FORWARD, True)
    level.call(LEAVE_JVP)
    return found
