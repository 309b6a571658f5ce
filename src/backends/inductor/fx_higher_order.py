"""The graphs that calls are given as text: a lambda or a nested function for each branch of torch.cond, a loop, a
checkpoint, a class for an autograd.Function."""

import ast
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Graph, Node

import fx_names
from fx_call import NoForm
from fx_users_calls import AUTOGRAD, bodies_of, operator_name, results_of

LONGEST_LAMBDA = 60
NAMES = {
    "cond": ("true_fn", "false_fn"),
    "while_loop": ("cond_fn", "body_fn"),
    "scan": ("combine_fn",),
    "flex_attention": ("score_mod",),
    "BlockMask": ("mask_mod",),
    AUTOGRAD: ("Function", "Function"),
}


class Bodies:
    """The texts of the graphs that calls are given. `text` makes one of a graph, names and how it returns; `name_of`
    says what a value around the call is called."""

    def __init__(
        self, calls: list[Node], text: Callable[..., Any], taken: set[str], name_of: Callable[[Node], str]
    ) -> None:
        self.text = text
        self.name_of = name_of
        self.lambdas: dict[Node, str] = {}
        self.names: dict[Node, str] = {}
        self.lines: list[str] = []
        self.classes: list[str] = []
        self.nested_has_classes = False
        self.imports: set[str] = set()
        for node in calls:
            if operator_name(node) == AUTOGRAD:
                self.add_class(node, taken)
            else:
                self.add_functions(node, taken)

    def add_functions(self, node: Node, taken: set[str]) -> None:
        called = operator_name(node) or getattr(node.target, "__name__", "")
        bodies, names = bodies_of(node), NAMES.get(called, ())
        for body, name in zip(bodies, [*names, *["body"] * len(bodies)]):
            graph: Graph = body.meta["graph"]
            if operator_name(node) == "scan" and isinstance(graph.output_node().args[0], list):
                graph.output_node().args = (tuple(graph.output_node().args[0]),)
            text = self.made(body, node.meta.get("bare", True))
            alone = text.expression is not None and not text.definitions
            if alone and len(text.lambda_text()) <= LONGEST_LAMBDA:
                self.lambdas[body] = text.callable_text()
            else:
                self.names[body] = fx_names.unique(name, taken)
                self.lines += text.function(self.names[body])

    def made(self, body: Node, bare: bool) -> Any:
        graph: Graph = body.meta["graph"]
        count = len(graph.find_nodes(op="placeholder"))
        outside = {name: self.name_of(given) for name, given in body.meta.get("captured", {}).items()}
        taken = {name.split(".")[0] for name in outside.values()}
        free = [name for name in fx_names.argument_names(["argument"] * (count + len(taken))) if name not in taken]
        names = [fx_names.unique(name, taken) for name in free[:count]]
        text = self.text(graph, names, attributes=outside, bare=bare)
        self.keep(text)
        return text

    def keep(self, text: Any) -> None:
        """Keeps what a text wants around it."""
        self.imports.update(text.imports)
        if text.classes:
            self.take_classes(text.classes)

    def take_classes(self, lines: list[str]) -> None:
        """Refuses those of a nested graph beside others: each graph names its own from the beginning."""
        if self.classes:
            raise NoForm("an autograd.Function in several nested graphs")
        self.classes += lines
        self.nested_has_classes = True

    def add_class(self, node: Node, taken: set[str]) -> None:
        forward, backward = bodies_of(node)
        if node.kwargs.get("dirty_idx"):
            raise NoForm("an autograd.Function that marks what it writes")
        if self.nested_has_classes:
            raise NoForm("an autograd.Function beside one in a nested graph")
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
