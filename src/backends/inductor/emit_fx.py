"""repro.py of a program in the FX dialect: a function as a person types it, and what calls it."""

import operator
import re

import torch

import fx_candidate
import fx_graph
import fx_groups
import fx_users_calls
from emit import MOST_LITERAL_BYTES, Literals, Repro, Trial
from fx_call import NoForm, resolve_or_none
from fx_names import argument_names
from fx_text import program_text
from calls import Untranslatable, attribute_name
from module import attributes_read, make_module, named_tensors
from tensor_text import tensor_text

TAKEN = ("sys", "torch", "F", "f", "leaves", "run", "differs", "reproduced", "main", "make_inputs", "first_sentence",
         "Function", "BlockMask", "flex_attention")  # fmt: skip
LONGEST_NUMBER = 24  # characters of a number in a literal


class TypedLiterals(Literals):
    """A tensor that stands alone is written as a person writes it."""

    def expression(self, name, formula, tensor):
        place = tensor.untyped_storage().data_ptr()
        if (place and place in self.storages) or formula.startswith("rand"):
            return super().expression(name, formula, tensor)
        self.storages[place] = name
        try:
            text = tensor_text(tensor.detach())
        except ValueError:
            del self.storages[place]
            return super().expression(name, formula, tensor)
        return text + (".requires_grad_()" if self.keeps_grad and tensor.requires_grad else "")


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
    return any(hasattr(place, name) for place in (torch, torch.Tensor, torch.nn.functional, operator))


class FxRepro(Repro):
    literals_of = TypedLiterals
    has_module = False

    def read_program(self, script):
        self.objects = []
        graph = self.graph_of(script)
        self.leave_out_unread(graph)
        roles = [role for _, role, _, _ in self.inputs]
        names = typed_names([name for name, _, _, _ in self.inputs])
        self.inputs = [[name, *rest] for name, (_, *rest) in zip(names, self.inputs)]
        arguments = [name for name, role in zip(names, roles) if role == "input"]
        given = [attribute_name(name) for name, _ in [*script.named_parameters(), *script.named_buffers()]]
        try:
            text = program_text(graph, arguments, attributes={target: target for target in given})
        except NoForm as error:
            raise Untranslatable(f"a call of this program has no text: {error}") from error
        self.used = text.imports
        self.forward = [*text.classes, *text.function("f")]
        self.drawn = any(draws(node) for node in graph.nodes)
        self.has_group = fx_groups.is_called(graph.nodes)

    def graph_of(self, script):
        """The program with what forward returns for its result."""
        graph_module, template = fx_candidate.as_it_stands(script, fx_candidate.holder_of(script))
        return fx_candidate.with_results(graph_module.graph, template)

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
        return self.drawn

    def imports(self):
        lines = super().imports().splitlines()
        at = lines.index("import torch") + 1
        used = [line for line in self.used if line not in lines]
        if self.has_group:
            used += fx_groups.IMPORTS
            lines += ["", fx_groups.LINE]
        return "\n".join([*lines[:at], *used, *lines[at:]])

    def classes(self):
        attributes = [name for name, _ in self.attributes]
        moved = self.moved()
        lines = [f"{attribute_name(name)} = {self.literals[name]}{moved}" for name in attributes if self.literals]
        if attributes and not self.literals:
            names = ", ".join(map(attribute_name, attributes))
            loaded = 'torch.load(here / "attributes.pt", weights_only=True)'
            lines.append(f"({names},) = " + (f"(x{moved} for x in {loaded})" if moved else loaded))
        return "\n" + "\n".join([*lines, *([""] * 2 if lines else []), *self.forward])

    def make_model(self):
        return "f"

    def parameters(self):
        return "parameters = [x for x in inputs if x.requires_grad]"

    def states(self):
        return "inputs"


class TypedRepro(FxRepro):
    """A TorchScript program, typed as a person types it. Raises Untranslatable where its graph is not straight-line."""

    def graph_of(self, script):
        if attributes_read(script) - {name for name, _ in named_tensors(script)}:
            raise Untranslatable("a packed parameter has no text")
        arguments = [tensor for _, role, _, tensor in self.inputs if role == "input"]
        graph_module, template = fx_graph.build(script, make_module(script)[0], arguments)
        return fx_candidate.with_results(graph_module.graph, template)


def typed(other, folder):
    """Returns repro.py of a TorchScript program as a person types it, if it fails so too under torch.compile; None if
    it does not, or has no such text. `other` is its emit.Repro. One that hangs would have to be waited for."""
    if other.facts["kind"] == "hang":
        return None
    try:
        repro = TypedRepro(other.script, other.inputs, other.facts)
    except (Untranslatable, KeyError, ValueError):
        return None
    repro.save_values(folder)
    return repro if Trial(repro, folder).fails() else None


def draws(node):
    """True if a call takes numbers from a generator."""
    if node.op == "call_method":
        name = node.target
    elif node.op == "call_function":
        if isinstance(node.target, torch._ops.OpOverload):
            return torch.Tag.nondeterministic_seeded in node.target.tags
        name = getattr(node.target, "__name__", "")
    else:
        return False
    packet = resolve_or_none(f"torch.ops.aten.{name}")
    overloads = [getattr(packet, each) for each in packet.overloads()] if packet else []
    return "dropout" in name or any(torch.Tag.nondeterministic_seeded in each.tags for each in overloads)
