"""Higher-order operators as people call them: torch.cond with a lambda or a nested function for each branch, a loop, a
checkpoint, an autograd.Function of their own."""

import ast
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.fx import Graph, Node

import fx_names
import fx_vmap
from fx_call import NoForm

LONGEST_LAMBDA = 60
LOOPS = "torch._higher_order_ops"
AUTOGRAD = "autograd_function_apply"


class UsersCall(NamedTuple):
    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    module: str = ""  # to be imported
    alone: bool = False  # what its graphs give may be the one result itself, not a tuple of it


def as_users_call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> UsersCall:
    """The function to call in the place of an operator of this name, and with what; the operator itself where there is
    no other."""
    if name == "cond":
        return UsersCall("torch.cond", args, kwargs, alone=True)
    if name == "tag_activation_checkpoint":
        module = "torch.utils.checkpoint"
        return UsersCall(f"{module}.checkpoint", args, kwargs, module, alone=True)
    if name == "while_loop" and len(args) == 4 and not args[3]:
        return UsersCall(f"{LOOPS}.while_loop", args[:3], kwargs, LOOPS)
    if name == "map_impl" and len(args) == 3 and len(args[1]) == 1:
        return UsersCall(f"{LOOPS}.map", (args[0], *args[1], *args[2]), kwargs, LOOPS, alone=True)
    if name == "scan" and len(args) == 4 and len(args[1]) == len(args[2]) == 1 and not args[3] and not kwargs:
        return UsersCall(f"{LOOPS}.scan", (args[0], *args[1], *args[2]), kwargs, LOOPS)
    if name == "vmap":
        body, _, in_dims, out_dims, randomness, *arguments = args
        return UsersCall("torch.vmap", tuple(arguments), vmap_keywords(in_dims, out_dims, randomness), alone=True)
    return UsersCall(f"torch.ops.higher_order.{name}", args, kwargs, "torch._higher_order_ops")


def vmap_keywords(in_dims: Any, out_dims: Any, randomness: Any) -> dict[str, Any]:
    """The keywords of torch.vmap, one number where all dimensions are the same, and none that goes without saying."""
    said: dict[str, Any] = {}
    for name, dims in (("in_dims", tuple(in_dims)), ("out_dims", tuple(out_dims))):
        if any(dim != 0 for dim in dims):
            said[name] = dims[0] if len(set(dims)) == 1 else dims
    return said if randomness == "error" else {**said, "randomness": randomness}


NAMES = {
    "cond": ("true_fn", "false_fn"),
    "while_loop": ("cond_fn", "body_fn"),
    "scan": ("combine_fn",),
    AUTOGRAD: ("Function", "Function"),
}


def operator_name(node: Node) -> str:
    """The name of the higher-order operator that the node calls; an empty text for any other node."""
    target = node.target
    if target is fx_vmap.vmapped:
        return "vmap"
    return str(target.name()) if isinstance(target, torch._ops.HigherOrderOperator) else ""


def is_body(value: Any) -> bool:
    """True for a graph that a call is given."""
    return isinstance(value, Node) and value.op == "get_attr" and "graph" in value.meta


def bodies_of(node: Node) -> list[Node]:
    return [given for given in node.all_input_nodes if is_body(given)]


def results_of(node: Node) -> list[Any]:
    """The results of each graph of a call, those of an autograd.Function without what it saves."""
    given = [body.meta["graph"].output_node().args[0] for body in bodies_of(node)]
    return [given[0][0]] if operator_name(node) == AUTOGRAD else given


def take_single_results(graph: Graph) -> None:
    """Has what reads the one result of a call read the call itself, where it is written so that it gives no tuple."""
    for node in list(graph.nodes):
        if gives_one(node):
            node.meta["alone"] = True
            for user in list(node.users):
                user.replace_all_uses_with(node)
                graph.erase_node(user)


def gives_one(node: Node) -> bool:
    """True if the call is written so that its one result is no tuple."""
    if "alone" in node.meta:
        return True
    name = operator_name(node)
    if not name or not (name == AUTOGRAD or as_users_call(name, node.args, dict(node.kwargs)).alone):
        return False
    first = [user.target is operator.getitem and user.args[1] == 0 for user in node.users]
    return all(first) and all(isinstance(one, (list, tuple)) and len(one) == 1 for one in results_of(node))


class Bodies:
    """The texts of the graphs that calls are given. `text` makes one of a graph, names and how it returns."""

    def __init__(self, calls: list[Node], text: Callable[..., Any], taken: set[str]) -> None:
        self.text = text
        self.lambdas: dict[Node, str] = {}
        self.names: dict[Node, str] = {}
        self.lines: list[str] = []
        self.classes: list[str] = []
        self.imports: set[str] = set()
        for node in calls:
            if operator_name(node) == AUTOGRAD:
                self.add_class(node, taken)
            else:
                self.add_functions(node, taken)

    def add_functions(self, node: Node, taken: set[str]) -> None:
        bodies, names = bodies_of(node), NAMES.get(operator_name(node), ())
        for body, name in zip(bodies, [*names, *["body"] * len(bodies)]):
            graph: Graph = body.meta["graph"]
            if operator_name(node) == "scan" and isinstance(graph.output_node().args[0], list):
                graph.output_node().args = (tuple(graph.output_node().args[0]),)
            text = self.made(graph, gives_one(node))
            alone = text.expression is not None and not text.definitions
            if alone and len(text.lambda_text()) <= LONGEST_LAMBDA:
                self.lambdas[body] = text.callable_text()
            else:
                self.names[body] = fx_names.unique(name, taken)
                self.lines += text.function(self.names[body])

    def made(self, graph: Graph, bare: bool) -> Any:
        count = len(graph.find_nodes(op="placeholder"))
        text = self.text(graph, fx_names.argument_names(["argument"] * count), bare=bare)
        self.keep(text)
        return text

    def keep(self, text: Any) -> None:
        """Keeps what a text wants around it."""
        self.imports.update(text.imports)
        if text.classes and self.classes:
            raise NoForm("an autograd.Function in several nested graphs")
        self.classes += text.classes

    def add_class(self, node: Node, taken: set[str]) -> None:
        forward, backward = bodies_of(node)
        if node.kwargs.get("dirty_idx"):
            raise NoForm("an autograd.Function that marks what it writes")
        name = fx_names.unique("Function", taken)
        self.names[forward] = self.names[backward] = name
        lines = [f"class {name}(torch.autograd.Function):"]
        graphs = (with_context_saved(forward.meta["graph"], node), with_context_read(backward.meta["graph"], node))
        for method, graph in zip(("forward", "backward"), graphs):
            count = len(graph.find_nodes(op="placeholder")) - 1
            text = self.text(graph, ["ctx", *fx_names.argument_names(["argument"] * count)], bare=True)
            self.keep(text)
            lines += ["    @staticmethod", *(f"    {line}" for line in text.function(method)), ""]
        self.classes += [*lines, ""]
        self.imports.add("import torch")

    def place(self, body: Node) -> ast.expr:
        """The lambda or name that stands for a graph where it is an argument."""
        return ast.parse(self.lambdas.get(body) or self.names[body], mode="eval").body


def copied(graph: Graph) -> tuple[Graph, Any, Node]:
    """A copy without its output, what that gives, and one more placeholder in front."""
    made = Graph()
    known: dict[Node, Node] = {}
    context = made.placeholder("ctx")
    for node in graph.nodes:
        if node.op != "output":
            known[node] = made.node_copy(node, known.__getitem__)
    given = torch.fx.node.map_arg(graph.output_node().args[0], known.__getitem__)
    return made, given, context


def with_context_saved(graph: Graph, node: Node) -> Graph:
    """The forward of an autograd.Function: `ctx.save_for_backward(...)`."""
    made, (results, saved), context = copied(graph)
    if saved:
        ready = [node for node in made.nodes if node.op == "placeholder" or node in saved]
        with made.inserting_after(ready[-1]):
            made.call_method("save_for_backward", (context, *saved))
    others = [results[int(place)] for place in node.kwargs.get("non_differentiable_idx") or ()]  # type: ignore
    if others:
        made.call_method("mark_non_differentiable", (context, *others))
    made.output(results)
    return made


def with_context_read(graph: Graph, node: Node) -> Graph:
    """The backward of an autograd.Function, which reads `ctx.saved_tensors`."""
    made, results, context = copied(graph)
    gradients = len(results_of(node)[0])
    given = [placeholder for placeholder in made.find_nodes(op="placeholder") if placeholder is not context]
    if len(given) > gradients:
        with made.inserting_after(given[-1]):
            saved = made.call_function(getattr, (context, "saved_tensors"))
        for place, placeholder in reversed(list(enumerate(given[gradients:]))):
            with made.inserting_after(saved):
                placeholder.replace_all_uses_with(made.call_function(operator.getitem, (saved, place)))
            made.erase_node(placeholder)
    made.output(results)
    return made
