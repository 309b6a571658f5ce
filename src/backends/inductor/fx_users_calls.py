"""Calls that are given graphs, as people write them: torch.cond, torch.vmap(f)(x), torch.func.grad(f)(x)."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.fx import Graph, Node

import fx_flex
import fx_func
import fx_vmap
from fx_call import NoForm

LOOPS = "torch._higher_order_ops"
AUTOGRAD = "autograd_function_apply"
OF_LEVELS = {fx_vmap.vmapped: "vmap", fx_func.differentiated: "grad", fx_func.pulled: "vjp", fx_func.pushed: "jvp"}


class UsersCall(NamedTuple):
    """`function(*args, **kwargs)`, or `function(*made_by)[part](*args)` where `made_by` says how it is made."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    module: str = ""  # to be imported
    alone: bool = False  # what its graphs give may be the one result itself, not a tuple of it
    made_by: tuple[tuple[Any, ...], dict[str, Any]] | None = None
    part: int | None = None
    place: Callable[[int], list[int]] | None = None  # where in what it gives the result of that number is


def operator_name(node: Any) -> str:
    """The name of the higher-order operator that the node calls; an empty text for any other node."""
    target: Any = node.target
    if not isinstance(node, Node) or node.op != "call_function":
        return ""
    if isinstance(target, torch._ops.HigherOrderOperator):
        return str(target.name())
    return OF_LEVELS.get(target, "")


def is_body(value: Any) -> bool:
    """True for a graph that a call is given."""
    return isinstance(value, Node) and value.op == "get_attr" and "graph" in value.meta


def bodies_of(node: Node) -> list[Node]:
    return [given for given in node.all_input_nodes if is_body(given)]


def results_of(node: Node) -> list[Any]:
    """The results of each graph of a call, those of an autograd.Function without what it saves."""
    given = [body.meta["graph"].output_node().args[0] for body in bodies_of(node)]
    return [given[0][0]] if operator_name(node) == AUTOGRAD else given


def as_users_call(node: Node) -> UsersCall:
    """The function to call in the place of a higher-order operator, and with what; the operator itself where there is
    no other."""
    name, kwargs = operator_name(node), dict(node.kwargs)
    args: tuple[Any, ...] = node.args
    if name in OF_LEVELS.values() and is_body(args[0]):
        return {"vmap": of_vmap, "grad": of_grad, "vjp": of_vjp, "jvp": of_jvp}[name](node)
    if name == "cond":
        return UsersCall("torch.cond", args, kwargs, alone=True)
    if name == "tag_activation_checkpoint":
        module = "torch.utils.checkpoint"
        return UsersCall(f"{module}.checkpoint", args, kwargs, module, alone=True)
    if name == "while_loop" and len(args) == 4 and can_be_captured(args[:2], args[3]):
        for body in args[:2]:
            capture(body, args[3])
        copy_what_is_handed_on(args[1], args[2])
        kwargs.pop("mutated_arg_indices", None)  # Dynamo finds them
        if hasattr(torch, name):
            return UsersCall(f"torch.{name}", args[:3], kwargs)
        return UsersCall(f"{LOOPS}.{name}", args[:3], kwargs, LOOPS)
    if name == "map_impl" and len(args) == 3 and len(args[1]) == 1:
        return UsersCall(f"{LOOPS}.map", (args[0], *args[1], *args[2]), kwargs, LOOPS, alone=True)
    if name == "scan" and len(args) == 4 and not args[3] and not kwargs and len(args[1]) == len(args[2]) == 1:
        return UsersCall(f"{LOOPS}.scan", (args[0], *args[1], *args[2]), kwargs, LOOPS)
    if name == "scan":  # Dynamo takes the operator itself of a loop alone, and of torch.scan one value for each
        raise NoForm("torch.scan of several values")
    return UsersCall(f"torch.ops.higher_order.{name}", args, kwargs, LOOPS)


def can_be_captured(bodies: Any, operands: Any) -> bool:
    """True if each operand is read by a body: a closure has no other, and a failure may depend on them."""
    if not operands or not all(isinstance(given, Node) for given in operands):
        return not operands
    read = [body.meta["graph"].find_nodes(op="placeholder")[-len(operands):] for body in bodies]  # fmt: skip
    return all(any(place.users for place in places) for places in zip(*read, strict=True))


def of_vmap(node: Node) -> UsersCall:
    body, _, in_dims, out_dims, randomness, *arguments = node.args
    how = ((body,), vmap_keywords(in_dims, out_dims, randomness))
    return UsersCall("torch.vmap", tuple(arguments), {}, alone=True, made_by=how)


def vmap_keywords(in_dims: Any, out_dims: Any, randomness: Any) -> dict[str, Any]:
    """The keywords of torch.vmap, one number where all dimensions are the same, and none that goes without saying."""
    said: dict[str, Any] = {}
    for name, dims in (("in_dims", tuple(in_dims)), ("out_dims", tuple(out_dims))):
        if any(dim != 0 for dim in dims):
            said[name] = dims[0] if len(set(dims)) == 1 else dims
    return said if randomness == "error" else {**said, "randomness": randomness}


def of_grad(node: Node) -> UsersCall:
    """torch.func.grad, or grad_and_value where what the graph gives is read too."""
    body, argnums, *arguments = node.args
    count, graph = len(argnums), body.meta["graph"]  # type: ignore
    used = [user.args[1] - count for user in node.users if user.target is operator.getitem]  # type: ignore
    with_value, (output, *more) = any(place >= 0 for place in used), graph.output_node().args[0]
    more = more if any(place > 0 for place in used) else []
    graph.output_node().args = ((output, more[0] if len(more) == 1 else tuple(more)) if more else (output,),)

    def place(number: int) -> list[int]:
        if number < count:
            return [0] * with_value + [number] * (count > 1)
        if not more:
            return [1]
        return [1, 0] if number == count else [1, 1] + [number - count - 1] * (len(more) > 1)

    said: dict[str, Any] = {} if argnums == (0,) else {"argnums": argnums[0] if count == 1 else argnums}  # type: ignore
    said |= {"has_aux": True} if more else {}
    function = "torch.func.grad_and_value" if with_value else "torch.func.grad"
    return UsersCall(function, tuple(arguments), {}, made_by=((body,), said), place=place)


def of_vjp(node: Node) -> UsersCall:
    body, count, outputs, *given = node.args
    others, cotangents = given[count:-outputs], tuple(given[-outputs:])  # type: ignore
    capture(body, others)
    args = cotangents if outputs == 1 else (cotangents,)
    how = ((body, *given[:count]), {})  # type: ignore
    return UsersCall("torch.func.vjp", args, {}, made_by=how, part=1, place=lambda number: [number])


def of_jvp(node: Node) -> UsersCall:
    body, count, *given = node.args
    capture(body, given[2 * count :])  # type: ignore
    (outputs,) = map(len, results_of(node))
    args = (body, tuple(given[:count]), tuple(given[count : 2 * count]))  # type: ignore
    return UsersCall("torch.func.jvp", args, {}, place=lambda number: (
        [number // outputs] + [number % outputs] * (outputs > 1)))  # fmt: skip


def capture(body: Any, outside: Any) -> None:
    """Has the last arguments of a graph stand for values around the call, which it then reads as a closure does."""
    graph: Graph = body.meta["graph"]
    if not outside or "captured" in body.meta:
        return
    body.meta["captured"] = {}
    for given, placeholder in zip(outside, graph.find_nodes(op="placeholder")[-len(outside) :], strict=True):
        name = f"captured_{len(body.meta['captured'])}"
        with graph.inserting_before(placeholder):
            placeholder.replace_all_uses_with(graph.create_node("get_attr", name))
        graph.erase_node(placeholder)
        body.meta["captured"][name] = given


def copy_what_is_handed_on(body: Any, carried: Any) -> None:
    """Has a graph give copies of the tensors that it is given: Dynamo takes no loop that gives its own argument."""
    output = body.meta["graph"].output_node()
    results = list(output.args[0])
    for place, (result, first) in enumerate(zip(results, carried)):
        if isinstance(first, Node) and isinstance(result, Node) and result.op in ("placeholder", "get_attr"):
            with body.meta["graph"].inserting_before(output):
                results[place] = body.meta["graph"].call_method("clone", (result,))
    output.args = (type(output.args[0])(results),)


def prepare(graph: Graph) -> None:
    """Has each call that is given graphs say how it is written, and what reads a part of its result read it where it is
    in what is written."""
    for node in reversed(list(graph.nodes)):
        if node.target is operator.getitem and not node.users and operator_name(node.args[0]):
            graph.erase_node(node)
    for node in list(graph.nodes):
        if operator_name(node) == "flex_attention":
            fx_flex.write_as_users(node, capture)
        elif operator_name(node) == "register_hook":
            write_hook(node)
        elif operator_name(node) and "called" not in node.meta:
            node.meta["called"] = called = as_users_call(node)
            node.meta["bare"] = bare = called.place is not None or gives_one(node, called)
            if bare:
                move_parts(node, called.place or (lambda _: []))


def write_hook(node: Node) -> None:
    """`x.register_hook(f)`, in the place of the operator that gives x again."""
    tensor, body, *outside = node.args
    capture(body, outside)
    with node.graph.inserting_before(node):
        made = node.graph.call_method("register_hook", (tensor, body))
        made.meta["modes"] = node.meta.get("modes", [])
    node.replace_all_uses_with(tensor)  # type: ignore[arg-type]
    node.graph.erase_node(node)


def gives_one(node: Node, called: UsersCall) -> bool:
    """True if the call is written so that its one result is no tuple."""
    if not (operator_name(node) == AUTOGRAD or called.alone):
        return False
    first = [user.target is operator.getitem and user.args[1] == 0 for user in node.users]
    return all(first) and all(isinstance(one, (list, tuple)) and len(one) == 1 for one in results_of(node))


def move_parts(node: Node, place: Callable[[int], list[int]]) -> None:
    graph = node.graph
    for user in list(node.users):
        part = node
        with graph.inserting_before(user):
            for key in place(user.args[1]):  # type: ignore[arg-type]
                part = graph.call_function(operator.getitem, (part, key))
        user.replace_all_uses_with(part)
        graph.erase_node(user)
