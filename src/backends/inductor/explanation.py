"""How a wrong result comes about: a changed program that gives it in eager.

    change = explained(module, Side(compiled, state), arguments, state)

A compiler that loses a write, runs it too early, or keeps more bits than eager does gives what eager gives for a
program that is changed in just that way (changes.py). Such a change is believed if it gives what is compiled for the
arguments and for others like them, wrong or right.
"""

import ast
import copy
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

import emit_fx
import fx_candidate
import fx_effects
from calls import attribute_name
from changes import Change, Noting, changes_of

MOST_CALLS = 40
DRAWS = 10  # of other arguments
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-13}  # relative to the largest; other dtypes are compared exactly

Outcome = list[Any] | None
"""All that a run gives and leaves behind; None if it raises."""


@dataclasses.dataclass(frozen=True)
class Side:
    """A program that can be called, and the tensors of its module, which a call may write to."""

    run: Callable[..., Any]
    state: list[torch.Tensor]
    of_gradients: bool = False  # of what asks for them, where that is all that counts

    def outcome(self, arguments: list[Any]) -> Outcome:
        given = copy.deepcopy(arguments)  # memory that is shared stays shared
        before = [tensor.detach().clone() for tensor in self.state]
        try:
            result = pytree.tree_leaves(self.run(*given))
            if self.of_gradients:
                return self.gradients(result, given)
            return [copy.deepcopy(leaf.detach()) if isinstance(leaf, torch.Tensor) else leaf
                    for leaf in (*result, *given, *self.state)]  # fmt: skip
        except Exception:
            return None
        finally:
            with torch.no_grad():
                for tensor, old in zip(self.state, before):
                    tensor.copy_(old)


    def gradients(self, result: list[Any], given: list[Any]) -> Outcome:
        """Returns the gradients of a sum of all results in which each element has another weight."""
        leaves = [x for x in (*pytree.tree_leaves(given), *self.state) if asks_for_gradient(x) and x.is_leaf]
        outputs = [x for x in result if asks_for_gradient(x)]
        if not outputs:
            return [None] * len(leaves)
        weights = [torch.linspace(1, 2, x.numel(), dtype=x.dtype).reshape(x.shape) for x in outputs]
        return list(torch.autograd.grad(outputs, leaves, weights, allow_unused=True))


def asks_for_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def explained(module: GraphModule, compiled: Side, arguments: list[Any], state: list[torch.Tensor]) -> Change | None:
    """`compiled` takes the same arguments as `module`, whose tensors are `state`."""
    noting = Noting(module)
    eager = Side(noting.run, state, compiled.of_gradients)
    found, expected = compiled.outcome(arguments), eager.outcome(arguments)
    if found is None or expected is None or same(found, expected):
        return None
    changes = changes_of(module, noting.dtypes)
    alike = [(change, Side(change.run, state, compiled.of_gradients)) for change in changes]
    alike = [(change, side) for change, side in alike if same(side.outcome(arguments), found)]
    was_asked = False  # with other arguments: without them, what fits may do so by chance
    for given, larger in others_like(arguments):
        if not alike:
            return None
        expected = eager.outcome(given)
        found = compiled.outcome(given) if expected is not None else None
        # For larger ones another program is compiled, which may be right.
        if found is None or larger and same(found, expected):
            continue
        was_asked = True
        alike = [(change, side) for change, side in alike if same(side.outcome(given), found)]
    return alike[0][0] if alike and was_asked else None


@dataclasses.dataclass(frozen=True)
class Subject:
    """The program that a report is about, with eager's side and the compiled one."""

    module: GraphModule
    compiled: Side
    eager: Side
    arguments: list[Any]


def subject_of(repro: Any, program: Any) -> Subject | None:
    """`repro` is an emit_fx.FxRepro, `program` the candidate.Program of the same program. None where no two runs are
    alike, a call runs in a mode, or there are too many."""
    if not isinstance(repro, emit_fx.FxRepro) or repro.draws_random_numbers():
        return None
    module, template = repro.graph_of(repro.script)
    fx_candidate.with_results(module.graph, template)
    module.recompile()
    calls = [node for node in module.graph.nodes if node.op in ("call_function", "call_method")]
    if len(calls) > MOST_CALLS or any(node.meta.get("modes") for node in calls):
        return None
    given = [tensor for _, tensor in repro.arguments]
    placeholders = [node.target for node in module.graph.find_nodes(op="placeholder")]
    if placeholders != [f"argument_{place}" for place in range(len(given))]:
        return None
    state = [getattr(module, attribute_name(name)) for name in program.state]
    of_gradients = repro.facts["of_gradients"]
    compiled = Side(program.call, list(program.state.values()), of_gradients)
    return Subject(module, compiled, Side(module, state, of_gradients), given)


def in_words(repro: Any, subject: Subject) -> dict[str, str] | None:
    """The change with calls as they stand in the text of `repro`; None where there is none."""
    change = explained(subject.module, subject.compiled, subject.arguments, subject.eager.state)
    nodes = {node.name: node for node in repro.nodes}
    if change is None or change.call and change.call not in nodes:
        return None
    call = repro.typed.call(nodes[change.call]) if change.call else ""
    other = repro.typed.call(nodes[change.other]) if change.other in nodes else change.other
    other = with_operands(other, call) if change.kind == "as" else other
    name = fx_effects.called_name(nodes[change.call]) if change.call else ""
    return {"kind": change.kind, "call": call, "other": other, "operator": name}


class Operands(ast.NodeTransformer):
    """Puts the operands of a call in the place of x and y."""

    def __init__(self, operands: list[ast.expr]) -> None:
        self.operands = dict(zip("xy", operands))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.operands.get(node.id, node)


def with_operands(formula: str, call: str) -> str:
    """Returns "torch.floor(time / 0.1)" for "torch.floor(x / y)" and "time // 0.1"."""
    try:
        tree = ast.parse(call, mode="eval").body
    except SyntaxError:  # a statement
        return formula
    if isinstance(tree, ast.BinOp):
        operands = [tree.left, tree.right]
    elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        of_module = isinstance(tree.func.value, ast.Name) and tree.func.value.id in ("torch", "F", "operator", "math")
        operands = ([] if of_module else [tree.func.value]) + tree.args
    else:
        return formula
    wanted = {node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)} & {"x", "y"}
    if len(operands) < len(wanted):
        return formula
    return ast.unparse(Operands(operands).visit(ast.parse(formula, mode="eval")))


def same(some: Outcome, others: Outcome) -> bool:
    if some is None or others is None or len(some) != len(others):
        return False
    return all(map(same_leaf, some, others))


def same_leaf(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and one == other
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype not in TOLERANCE:
        return torch.equal(one.isnan(), other.isnan()) and torch.equal(*(x[~one.isnan()] for x in (one, other)))
    finite = one[one.isfinite()].abs()
    margin = TOLERANCE[one.dtype] * (float(finite.max()) if finite.numel() else 0)
    return torch.allclose(one, other, rtol=0, atol=margin, equal_nan=True)


def others_like(arguments: list[Any]) -> Iterator[tuple[list[Any], bool]]:
    """Arguments near to those that there are and far from them, of the same sizes; then larger ones (True), for which a
    program need not be made: a change may be right by chance where a dimension has one element."""
    generator = torch.Generator().manual_seed(0)
    for draw in range(DRAWS):
        yield drawn(copy.deepcopy(arguments), draw % 2 == 0, generator), False
    for dimension in (0, -1):
        larger = pytree.tree_map(functools.partial(longer, dimension=dimension), arguments)
        for near in (True, False):
            yield drawn(copy.deepcopy(larger), near, generator), True


def longer(value: Any, dimension: int) -> Any:
    """A tensor with each element three times along a dimension, if it has one; anything else as it is."""
    if not isinstance(value, torch.Tensor) or not value.dim() or value.is_quantized:
        return copy.deepcopy(value)
    return value.detach().repeat_interleave(3, dimension).requires_grad_(value.requires_grad)


def drawn(given: list[Any], near: bool, generator: torch.Generator) -> list[Any]:
    with torch.no_grad():
        for leaf in pytree.tree_leaves(given):
            if isinstance(leaf, torch.Tensor) and leaf.numel() and not leaf.is_quantized:
                draw_into(leaf, near, generator)
    return given


def draw_into(tensor: torch.Tensor, near: bool, generator: torch.Generator) -> None:
    for dimension, step in enumerate(tensor.stride() if tensor.layout == torch.strided else ()):
        if step == 0:  # its elements are one
            tensor = tensor.narrow(dimension, 0, 1)
    shape, dtype = tensor.shape, tensor.dtype
    if dtype == torch.bool:
        tensor.copy_(torch.rand(shape, generator=generator) < 0.5)
    elif dtype.is_floating_point or dtype.is_complex:
        noise = torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
        tensor.copy_(tensor * (1 + noise / 10) if near else noise * 4)
    else:
        limits = torch.iinfo(dtype)
        step = torch.randint(-3, 4, shape, generator=generator)
        far = torch.randint(limits.min, limits.max, shape, generator=generator)
        tensor.copy_((tensor.to(torch.int64) + step).clamp(limits.min, limits.max) if near else far)
