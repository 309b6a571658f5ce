"""A program in torch.fx as Python that is typed by hand.

    text = program_text(graph, argument_names(...))
    text.function("f")      the lines of `def f(x, y): ...`
    text.lambda_text()      `lambda x: x.half().float()`, where text.expression is not None
    text.imports            ["import torch", "import torch.nn.functional as F"]

The text does what the graph does, bit for bit: a value that is used once stands where it is used, if nothing that
writes, draws random numbers or changes a mode would then run in another order. Calls that run under modes
(fx_modes.py) stand in blocks: `with torch.no_grad():`.
"""

import ast
import dataclasses
import io
import itertools
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from torch.fx import Graph, Node
from torch.fx.node import map_arg
from torch.nn.attention.flex_attention import flex_attention

import fx_effects
import fx_modes
import fx_names
import fx_numpy
from fx_call import NoForm
from fx_expressions import BINARY, Expressions
from fx_higher_order import Bodies
from fx_users_calls import bodies_of, is_body, prepare

WIDTH = 100
MOST_IN_ONE = 16  # calls in one expression


@dataclasses.dataclass(frozen=True)
class ProgramText:
    arguments: list[str]
    body: list[str]  # lines without the indentation of a function
    expression: str | None  # the result, where the program is that alone
    imports: list[str]
    definitions: list[str]  # lines of functions that it uses
    classes: list[str]  # lines of classes, which stand outside: Dynamo traces no definition of one
    call: Callable[[Node], str] = dataclasses.field(compare=False, repr=False)
    """Says how a call of the graph stands in the text, without the name of its result."""

    def function(self, name: str = "f") -> list[str]:
        head = f"def {name}({', '.join(self.arguments)}):"
        body = [*self.definitions, *(self.body or ["pass"])]
        return [*wrapped(head, WIDTH), *(f"    {line}" for line in body)]

    def lambda_text(self) -> str:
        """`lambda x: ...`. Raises NoForm where the program is more than one expression."""
        if self.expression is None or self.definitions:
            raise NoForm("a program of several statements")
        head = f"lambda {', '.join(self.arguments)}" if self.arguments else "lambda"
        return f"{head}: {self.expression}"

    def callable_text(self) -> str:
        """The shortest expression that can be called: a function of PyTorch where it takes the same arguments."""
        parsed = ast.parse(self.expression or "0", mode="eval").body
        if isinstance(parsed, ast.Call) and not parsed.keywords and self.arguments:
            names = [argument.id if isinstance(argument, ast.Name) else "" for argument in parsed.args]
            function = ast.unparse(parsed.func)
            if names == self.arguments and function.split(".")[0] in ("torch", "F"):
                return function
        return self.lambda_text()


def program_text(
    graph: Graph,
    arguments: list[str],
    *,
    attributes: Mapping[str, str] | None = None,
    numbers: Collection[str] = (),
    bare: bool = True,
) -> ProgramText:
    """`arguments` are the names of the graph's placeholders, in order. `attributes` says how the target of a get_attr
    is read: a name, a dotted name or a number, `self.TARGET` where it says nothing. `numbers` are the placeholders that
    stand for plain numbers. If `bare`, a result of one value is returned without its tuple, and no result is not
    returned; else the function returns just what the graph does. The graph is changed: a call that gives a tuple of
    one value is made one that gives the value. Raises NoForm for a call that has no text."""
    return Writer(graph, arguments, attributes or {}, numbers).write(bare)


@dataclasses.dataclass
class Statement:
    tree: ast.stmt
    text: str
    modes: fx_modes.Modes


class Writer:
    def __init__(
        self, graph: Graph, arguments: list[str], attributes: Mapping[str, str], numbers: Collection[str]
    ) -> None:
        prepare(graph)
        self.graph = graph
        self.attributes = attributes
        self.numbers = fx_effects.Numbers(numbers)
        self.expressions = Expressions(self.place, self.numbers)
        placeholders = graph.find_nodes(op="placeholder")
        self.arguments = dict(zip(placeholders, arguments, strict=True))
        words = self.first_words()
        self.taken = set(arguments) | words
        if len(set(arguments)) < len(arguments) or not all(map(fx_names.is_name, arguments)):
            raise ValueError(f"these cannot be names of arguments: {arguments}")
        if clash := set(arguments) & (fx_names.FORBIDDEN | words):
            raise ValueError(f"these names mean something else: {sorted(clash)}")
        self.nodes = [node for node in graph.nodes if node.op not in ("placeholder", "get_attr", "output")]
        self.output = next(iter(graph.find_nodes(op="output")))
        self.uses: dict[Node, int] = dict.fromkeys(graph.nodes, 0)
        for node in graph.nodes:
            map_arg((node.args, node.kwargs), self.count)
        self.modes = self.find_modes()
        self.moments = self.find_moments()
        # Calls that are written as a part of `x[i] += y`.
        self.absorbed = {part for node in self.nodes for part in self.item_update(node)}
        self.inlined = {
            node
            for node in self.nodes
            if self.uses[node] == 1 and not self.is_statement(node) and self.is_used_in_its_modes(node)
        }
        for node in self.nodes:
            if self.is_update(node) and node not in self.absorbed and isinstance(node.args[0], Node):
                self.inlined.discard(node.args[0])  # `x += 1` wants a name
        self.limit_sizes()
        self.names: dict[Node, str] = {}
        self.captured: dict[Node, str] = {}  # the names of values that nested functions read
        self.bodies = Bodies([node for node in self.nodes if bodies_of(node)], program_text, self.taken, self.outside)
        self.marks: dict[ast.AST, list[Node]] = {}  # the calls that a part of the text makes itself, in order

    def outside(self, node: Node) -> str:
        """The name of a value that a nested function reads, which it has from then on."""
        self.inlined.discard(node)
        node = self.stands_for(node)
        if node.op == "get_attr":
            return self.attributes.get(str(node.target), f"self.{node.target}")
        if node not in self.arguments and node not in self.captured:
            self.captured[node] = fx_names.unique(self.wanted_name(node), self.taken)
        return self.arguments.get(node) or self.captured[node]

    def first_words(self) -> set[str]:
        """The packages of the functions that are called: no name may stand for another value."""
        targets = (node.target for node in self.graph.nodes if node.op == "call_function")
        words = {str(getattr(target, "__module__", None) or "torch").split(".")[0] for target in targets}
        if any(node.target is flex_attention for node in self.graph.nodes):
            words |= {"BlockMask", "flex_attention"}
        return words | {place.split(".")[0] for place in self.attributes.values()}

    def count(self, node: Node) -> Node:
        self.uses[node] += 1
        return node

    def find_modes(self) -> dict[Node, fx_modes.Modes]:
        """The modes of each call; those of a part of a result are those of the call that gave it. Dynamo lets a loop
        write to tensors around it only where there are no gradients."""
        found: dict[Node, fx_modes.Modes] = {}
        for node in self.nodes:
            modes = fx_modes.modes_of(node)
            if modes is None:
                modes = next((found[given] for given in node.all_input_nodes if given in found), [])
            found[node] = [*modes, {"grad": False}] if node.kwargs.get("mutated_arg_indices") else modes
        return found

    def is_used_in_its_modes(self, node: Node) -> bool:
        return all(self.modes.get(user, []) == self.modes[node] for user in node.users)

    def find_moments(self) -> dict[Node, int]:
        """A number for each call: two of the same number may change places, else the lower one runs first."""
        moment, moments = 0, {}
        modes: fx_modes.Modes = []
        for node in self.nodes:
            effect = fx_effects.has_effect(node)
            moment += effect or self.modes[node] != modes
            modes = self.modes[node]
            moments[node] = moment
            moment += effect
        return moments

    def is_update(self, node: Node) -> bool:
        return fx_effects.is_augmented(node) and not self.numbers.has(node.args[0])

    def is_setting(self, node: Node) -> bool:
        return node.op == "call_function" and function_name(node) == "setitem"

    def is_statement(self, node: Node) -> bool:
        return self.is_setting(node) or self.is_update(node) and node not in self.absorbed

    def item_update(self, node: Node) -> list[Node]:
        """The calls that `x[i] += y` is, without the setitem, which is `node`; none if it is something else."""
        if not self.is_setting(node):
            return []
        update = node.args[2]
        if not isinstance(update, Node) or not self.is_update(update) or self.uses[update] != 1:
            return []
        item = update.args[0]
        if not isinstance(item, Node) or function_name(item) != "getitem" or self.uses[item] != 1:
            return []
        indices: list[Node] = []
        map_arg(item.args[1], indices.append)
        same = item.args[0] is node.args[0] and repr(item.args[1]) == repr(node.args[1])
        between = self.nodes[self.nodes.index(item) + 1 : self.nodes.index(node)]
        alone = all(self.moments[one] == self.moments[item] or one is update for one in between)
        return [item, update] if same and alone and not indices else []

    def limit_sizes(self) -> None:
        sizes: dict[Node, int] = {}
        for node in self.nodes:
            inner = [sizes[part] for part in node.all_input_nodes if part in self.inlined]
            sizes[node] = 1 + sum(inner)
            if sizes[node] > MOST_IN_ONE and node not in self.absorbed:
                self.inlined.discard(node)

    def write(self, bare: bool) -> ProgramText:
        while True:
            self.name_values()
            self.marks.clear()
            statements = self.statements(bare)
            moved = self.out_of_order(statements) or self.too_long(statements)
            if not moved:
                break
            self.inlined -= moved
        body = self.blocks(statements, 0)
        expression = None
        if len(statements) == 1 and isinstance(statements[0].tree, ast.Return) and statements[0].tree.value:
            expression = unparsed(statements[0].tree.value)
        arguments, definitions = list(self.arguments.values()), self.bodies.lines
        imports, classes = self.imports(statements), self.bodies.classes
        return ProgramText(arguments, body, expression, imports, definitions, classes, self.text_of)

    def text_of(self, node: Node) -> str:
        """A call without the name that its result has."""
        if node in self.absorbed:
            return next(self.text_of(one) for one in self.nodes if node in self.item_update(one))
        if node in self.inlined:
            return unparsed(self.expressions.made_by(node))
        tree = self.statement(node).tree
        named = isinstance(tree, ast.Assign) and node in self.names
        return unparsed(tree.value if named else tree)  # type: ignore[attr-defined]

    def blocks(self, statements: Iterable[Statement], depth: int) -> list[str]:
        """The lines of statements that stand in as many blocks already."""
        lines: list[str] = []
        width = WIDTH - 4 - 4 * depth
        for modes, group in itertools.groupby(statements, lambda one: one.modes[depth : depth + 1]):
            if modes:
                inner = self.blocks(list(group), depth + 1)
                lines += [f"with {unparsed(fx_modes.written(modes[0]))}:", *(f"    {line}" for line in inner)]
            else:
                lines += [line for statement in group for line in wrapped(statement.text, width)]
        return lines

    def imports(self, statements: list[Statement]) -> list[str]:
        used = {part.id for one in statements for part in ast.walk(one.tree) if isinstance(part, ast.Name)}
        modules = {module for module in self.expressions.modules if module.split(".")[0] in used} | {"torch"} & used
        modules |= {"torch"} if any(one.modes for one in statements) else set()
        lines = {f"import {module}" for module in modules - {"builtins"}} | self.bodies.imports
        flex = sorted({"BlockMask", "flex_attention"} & used)
        lines |= {f"from torch.nn.attention.flex_attention import {', '.join(flex)}"} if flex else set()
        lines |= {"import numpy as np"} & {f"import numpy as {name}" for name in used}
        functional = "import torch.nn.functional as F"
        return sorted(lines - {functional}) + ([functional] if "F" in used or functional in lines else [])

    def name_values(self) -> None:
        self.names, taken = dict(self.captured), set(self.taken)
        for node in self.nodes:
            in_a_name = self.is_setting(node) or self.stands_for(node) is not node
            named = node in self.inlined or node in self.absorbed or node in self.names or in_a_name
            if self.uses[node] and not named:
                self.names[node] = fx_names.unique(self.wanted_name(node), taken)

    def wanted_name(self, node: Node) -> str:
        target: Any = node.target
        if target is getattr:
            return fx_names.name_for_result(str(node.args[1]).lower())
        return fx_names.name_for_result(fx_effects.called_name(node))

    def stands_for(self, node: Node) -> Node:
        """The value that has a name: what is written in place is read under the name that it had before."""
        while node not in self.inlined and self.uses.get(node) and fx_effects.is_in_place(node):
            first = node.args[0]
            if self.numbers.has(first) or not isinstance(first, Node) or first in self.inlined:
                break
            node = first
        return node

    def place(self, node: Node) -> ast.expr:
        if node in self.inlined:
            tree = self.expressions.made_by(node)
            # as_array() takes out of torch.as_tensor(...) what stands inside of another call of NumPy's
            made = tree.args[0] if fx_numpy.is_one(node.target) and isinstance(tree, ast.Call) else tree
            self.marks.setdefault(made, []).append(node)
            return tree
        node = self.stands_for(node)
        if is_body(node):
            return self.bodies.place(node)
        if node.op == "get_attr":
            return attribute(self.attributes.get(str(node.target), f"self.{node.target}"))
        if self.is_setting(node):
            return ast.Constant(None)
        return ast.Name(self.arguments.get(node) or self.names[node], ast.Load())

    def statements(self, bare: bool) -> list[Statement]:
        roots = [node for node in self.nodes if node not in self.inlined and node not in self.absorbed]
        found = [self.statement(node) for node in roots]
        result = self.output.args[0]
        if bare and isinstance(result, (tuple, list)) and len(result) == 1:
            (result,) = result
        if bare and (result is None or result in ((), [])):
            return found
        tree = ast.Return(self.expressions.value(result))
        text = unparsed(tree.value) if tree.value else ""
        several = isinstance(tree.value, ast.Tuple) and len(tree.value.elts) > 1
        return [*found, Statement(tree, f"return {text[1:-1] if several else text}", [])]

    def statement(self, node: Node) -> Statement:
        tree: ast.stmt
        parts: list[Node] = []
        if self.is_setting(node):
            parts = self.item_update(node)
            target = self.expressions.subscript(node.args[0], node.args[1])
            value = self.expressions.value(parts[1].args[1] if parts else node.args[2])
            if parts:
                tree = ast.AugAssign(target, sign(parts[1]), value)
                self.marks.setdefault(target, []).append(parts.pop(0))  # Python reads it before the value
            else:
                tree = ast.Assign([target], value, lineno=1)
        elif self.is_update(node):
            name, value = self.expressions.value(node.args[0]), self.expressions.value(node.args[1])
            # A name that the function does not own cannot be assigned to in it.
            if isinstance(name, ast.Name) and node.args[0].op != "get_attr":
                tree = ast.AugAssign(name, sign(node), value)
            else:  # `self.weight += 1` would set the attribute of the module too
                tree = ast.Expr(ast.Call(ast.Attribute(name, f"__{function_name(node)}__", ast.Load()), [value], []))
        else:
            made = self.expressions.made_by(node)
            named = node in self.names
            tree = ast.Assign([ast.Name(self.names[node], ast.Store())], made, lineno=1) if named else ast.Expr(made)
        self.marks.setdefault(tree, []).extend([*parts, node])
        return Statement(tree, unparsed(tree), self.modes[node])

    def out_of_order(self, statements: list[Statement]) -> set[Node]:
        """The calls that Python would make too late, to be written in lines of their own."""
        late, latest = set(), -1
        for statement in statements:
            for node in self.calls_of(statement.tree):
                if self.moments[node] < latest:
                    late.add(node)
                latest = max(latest, self.moments[node])
        assert late <= self.inlined, "a call runs late in a line of its own"
        return late

    def calls_of(self, tree: ast.AST) -> Iterator[Node]:
        """The calls of a statement, in the order in which Python makes them."""
        parts = list(ast.iter_child_nodes(tree))
        if isinstance(tree, ast.Assign):
            parts = [tree.value, *tree.targets]
        if isinstance(tree, ast.Dict):
            parts = [part for pair in zip(tree.keys, tree.values) for part in pair if part is not None]
        for part in parts:
            yield from self.calls_of(part)
        yield from self.marks.get(tree, ())

    def too_long(self, statements: list[Statement]) -> set[Node]:
        """One call of each long statement that is best written in a line of its own."""
        taken = set()
        for statement in statements:
            if len(statement.text) + 4 + 4 * len(statement.modes) <= WIDTH:
                continue
            parts = [(len(unparsed(tree)), self.marks[tree][-1]) for tree in ast.walk(statement.tree)
                     if isinstance(tree, ast.expr) and tree in self.marks]  # fmt: skip
            parts = [part for part in parts if part[1] in self.inlined]
            half = len(statement.text) / 2
            best = min(parts, key=lambda part: abs(part[0] - half), default=None)
            if best is not None:
                taken.add(best[1])
        return taken


def function_name(node: Node) -> str:
    return str(getattr(node.target, "__name__", ""))


def sign(node: Node) -> ast.operator:
    """The operator of `x += y` and its like."""
    return BINARY[function_name(node).removeprefix("i")]


def is_number(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text), (int, float))
    except (ValueError, SyntaxError):
        return False


def attribute(name: str) -> ast.expr:
    if not is_number(name) and not all(map(fx_names.is_name, name.split("."))):
        raise NoForm(f"an attribute of the name {name!r}")
    return ast.parse(name, mode="eval").body


def unparsed(tree: ast.AST) -> str:
    """Source, with the quotes that most people use."""
    text = ast.unparse(tree)
    if "'" not in text:
        return text
    pieces, last = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and token.string[0] == "'" and not set('"\\') & set(token.string):
            pieces += [text[last : token.start[1]], '"', token.string[1:-1], '"']
            last = token.end[1]
    return "".join([*pieces, text[last:]])


def wrapped(text: str, width: int) -> list[str]:
    """A line, broken after commas inside of brackets where it is too long, or behind a bracket that opens."""
    if len(text) <= width:
        return [text]
    commas, opened, depth = [], [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string in "([{":
                opened.append(token.end[1])
            if token.string == "," and depth:
                commas.append(token.end[1])
    lines: list[str] = []
    start = 0
    while len(text) - start + 4 * bool(lines) > width:
        room = start + width - 4 * bool(lines)
        fitting = [at for at in commas if start < at <= room] or [at for at in opened if start < at <= room]
        at = fitting[-1] if fitting else min((at for at in commas if at > room), default=len(text))
        if at == len(text):
            break
        lines.append(("    " if lines else "") + text[start:at].strip())
        start = at
    return [*lines, ("    " if lines else "") + text[start:].strip()]
