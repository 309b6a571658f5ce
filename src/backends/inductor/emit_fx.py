"""The program of repro.py in the FX dialect: a function as a person types it."""

import contextlib
import operator
import re

import torch

import emit
import fx_candidate
import fx_effects
import fx_graph
import fx_groups
import fx_users_calls
from emit import MOST_LITERAL_BYTES, Literals, Repro
from fx_call import NoForm
from fx_names import argument_names
from fx_text import program_text
from calls import Untranslatable, attribute_name
from module import attributes_read, make_module, named_tensors
from tensor_text import number, requiring_grad, tensor_text

TAKEN = emit.TAKEN | {"F", "Function", "BlockMask", "flex_attention", "self"}
MOST_IN_SENTENCE = 110  # characters of a program of few statements
A_NAME = re.compile(r"\w+(, \w+)*,?")  # or several
LONGEST_NUMBER = 24  # characters of a number in a literal


class TypedLiterals(Literals):
    """A tensor that stands alone is written as a person writes it."""

    def expression(self, name, formula, tensor):
        place = tensor.untyped_storage().data_ptr()
        memory = tensor.untyped_storage().nbytes()
        is_part = tensor.storage_offset() != 0 or memory != tensor.numel() * tensor.element_size()
        lacks_others = place in self.shared and is_part  # which are taken out of what is written for this one
        if (place and place in self.storages) or lacks_others or (formula and formula["kind"].startswith("rand")):
            return super().expression(name, formula, tensor)
        try:
            text = tensor_text(tensor.detach())
        except ValueError:
            return super().expression(name, formula, tensor)
        has_grad = self.keeps_grad and tensor.requires_grad
        self.storages[place] = name, tensor, has_grad
        return requiring_grad(text) if has_grad else text


def typed_names(names):
    """The names of the program's inputs. One that a cut has named by the call that once made it gets a plain name: the
    call is gone."""
    plain = iter(("x", "y", "z", "u", "v", "w", *(f"x{number}" for number in range(len(names)))))
    result = []
    for name in argument_names(names):
        called = re.sub(r"_?\d*$", "", name)
        while name in TAKEN or name in result or is_called(called):
            name = called = next(plain)
        result.append(name)
    return result


def is_called(name):
    places = (torch, torch.Tensor, torch.nn.functional, operator)
    is_operators = "_" in name and hasattr(torch.ops.aten, name)  # "lift_fresh_copy"; a user may well write "copy"
    is_keyword = hasattr(operator, f"{name}_")  # operator.and_ gives "and_0"
    return is_operators or is_keyword or any(hasattr(place, name) for place in places)


class FxRepro(Repro):
    literals_of = TypedLiterals
    callable = "f"

    def read_program(self, script):
        self.objects = []
        graph_module, template = self.graph_of(script)
        graph = fx_candidate.with_results(graph_module.graph, template)
        self.leave_out_unread(graph)
        roles = [role for _, role, _, _ in self.inputs]
        names = typed_names([name for name, _, _, _ in self.inputs])
        held = {
            attribute_name(old): attribute_name(new)
            for new, (old, role, _, _) in zip(names, self.inputs)
            if role != "input"
        }
        self.inputs = [[name, *rest] for name, (_, *rest) in zip(names, self.inputs)]
        arguments = [name for name, role in zip(names, roles) if role == "input"]
        try:
            self.typed = program_text(graph, arguments, attributes={old: self.read(new) for old, new in held.items()})
        except NoForm as error:
            raise Untranslatable(f"a call of this program has no text: {error}") from error
        self.forward = self.lines()
        self.nodes = list(graph.nodes)
        self.has_group = fx_groups.is_called(graph.nodes)

    @staticmethod
    def read(attribute):
        """How the program reads an attribute."""
        return attribute

    def lines(self):
        return [*self.typed.classes, *self.typed.function("f")]

    def graph_of(self, script):
        """The program as a GraphModule, and the template of its result."""
        return fx_candidate.as_it_stands(script, fx_candidate.holder_of(script))

    def parts(self):
        return {**super().parts(), "callable": self.callable, "is_module": False}

    def statement(self):
        if self.typed.definitions or self.typed.classes:
            return ""
        if self.typed.expression is not None:
            return self.typed.expression
        *body, last = self.typed.body or [""]
        if last.startswith("return "):  # what it computes or writes may be at fault as well as what stands before it
            last = "" if A_NAME.fullmatch(last.removeprefix("return ")) else last.removeprefix("return ")
        lines = "; ".join([*body, last] if last else body)
        is_long = len(lines) > MOST_IN_SENTENCE or any(line.startswith((" ", ")")) for line in [*body, last])
        return lines if not is_long and "with " not in lines else ""

    def writes(self):
        return any(map(fx_effects.has_effect, self.nodes))

    def leave_out_unread(self, graph):
        """A mask of flex_attention that masks nothing is not written: nor are the inputs that it has, where no file of
        inputs has a place for each."""
        given = [each for each in self.inputs if each[1] == "input"]
        placeholders = graph.find_nodes(op="placeholder")
        for node, (_, _, _, tensor) in zip(placeholders, given, strict=True):
            node.meta["sizes"] = tensor.shape
        read = {node for node in placeholders if node.users}
        fx_users_calls.prepare(graph)
        if sum(tensor.numel() for _, _, _, tensor in self.inputs) > MOST_LITERAL_BYTES // LONGEST_NUMBER:
            return
        for node, each in zip(placeholders, given, strict=True):
            if node in read and not node.users:
                graph.erase_node(node)
                self.inputs.remove(each)

    def draws_random_numbers(self):
        return any(map(draws, self.nodes))

    def imports(self):
        lines = super().imports()
        used = [*self.typed.imports, *(fx_groups.IMPORTS if self.has_group else [])]
        return [*lines[:-1], *(line for line in used if line < "import torch"), "import torch",
                *(line for line in used if line > "import torch")]  # fmt: skip

    def definition(self):
        attributes = [name for name, _ in self.attributes]
        moved = self.moved()
        lines = [fx_groups.LINE] if self.has_group else []
        lines += [f"{attribute_name(name)} = {self.literals[name]}{moved}" for name in attributes if self.literals]
        if attributes and not self.literals:
            names, loaded = ", ".join(map(attribute_name, attributes)), self.loaded("attributes.pt")
            lines.append(f"({names},) = " + (f"(x{moved} for x in {loaded})" if moved else loaded))
        return [*lines, *([""] * 2 if lines else []), *self.forward]


class TypedRepro(FxRepro):
    """A TorchScript program, typed as a person types it. Raises Untranslatable where its graph is not straight-line."""

    def graph_of(self, script):
        if attributes_read(script) - {name for name, _ in named_tensors(script)}:
            raise Untranslatable("a packed parameter has no text")
        arguments = [tensor for _, role, _, tensor in self.inputs if role == "input"]
        return fx_graph.build(script, make_module(script)[0], arguments)


class NumberedRepro(TypedRepro):
    """The same, with the number of a user's `x + 1` in its place, of which tracing has made a constant tensor. The
    compiler then knows it, as it knows the constants of fx_graph.py. Raises Untranslatable where there is none."""

    def read_program(self, script):
        if not any(is_number(role, tensor) for _, role, _, tensor in self.inputs):
            raise Untranslatable("no number was made a tensor")
        super().read_program(script)

    def read(self, attribute):
        for name, role, _, tensor in self.inputs:
            if attribute_name(name) == attribute and is_number(role, tensor):
                return number(tensor.item())
        return attribute

    @property
    def attributes(self):
        return [
            (name, role) for name, role, _, tensor in self.inputs if role != "input" and not is_number(role, tensor)
        ]


def is_number(role, tensor):
    return role == "buffer" and fx_graph.is_a_number(tensor)  # constants come as buffers


def programs(script, inputs, facts, typed=(FxRepro, TypedRepro, NumberedRepro)):
    """The ways to write a program, the plainest first. `typed`: that of the FX dialect, and those of TorchScript, each
    plainer than the one before it."""
    of_calls, *of_script = typed
    if fx_candidate.calls_python(script):
        return [of_calls(script, inputs, facts)]
    written = [Repro(script, inputs, facts)]
    with contextlib.suppress(Untranslatable, KeyError, ValueError):
        for way in of_script:
            written.insert(0, way(script, inputs, facts))
    return written


def draws(node):
    """True if a call takes numbers from a generator."""
    if isinstance(node.target, torch._ops.OpOverload):
        return torch.Tag.nondeterministic_seeded in node.target.tags
    if node.op == "get_attr" and isinstance(body := node.meta.get("graph"), torch.fx.Graph):
        return any(map(draws, body.nodes))
    return node.op in ("call_method", "call_function") and fx_effects.draws(fx_effects.called_name(node))
