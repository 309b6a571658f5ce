"""The program of repro.py as text: what it imports, what defines it, its inputs. The calls of both sides and what
compares them are written around it by repro/repro_script.cpp."""

import math
import re

import torch

import imports
from calls import attribute_name
from module import attributes_read, make_module, named_tensors
from tensor_text import number
from translate import MODULES

MOST_LITERAL_BYTES = 64 * 1024
# Names that the texts of src/repro (script_body.cpp and its templates) give, which no input may have.
TAKEN = {"torch", "Repro", "f", "model", "run", "call", "prepare", "result", "results", "parts", "part", "leaves",
         "leaf", "loss", "gradients", "expected", "found", "optimised", "eager", "error", "print", "Path", "compile_fx",
         "unittest", "device", "inputs", "compiled"}  # fmt: skip


def shortest(tensor):
    """Yields the text of each element, as short as it can be and still be the same number."""
    digits = {torch.float16: 5, torch.bfloat16: 4, torch.float32: 9}.get(tensor.dtype)
    for value in tensor.tolist():
        if digits and math.isfinite(value):
            value = next(
                short
                for short in [*(float(f"{value:.{d}g}") for d in range(1, digits + 1)), value]
                if torch.tensor(short, dtype=tensor.dtype) == torch.tensor(value, dtype=tensor.dtype)
            )
        yield number(value)


class Literals:
    """Tensors as Python expressions, exactly: data, strides, and which of them share memory."""

    def __init__(self, keeps_grad):
        self.keeps_grad = keeps_grad
        self.storages = {}
        self.shared = set()  # places of memory that several inputs lie in

    def expression(self, name, formula, tensor):
        grad = ".requires_grad_()" if self.keeps_grad and tensor.requires_grad else ""
        tensor = tensor.detach()
        place = tensor.untyped_storage().data_ptr()
        if place and place in self.storages:
            return self.view(*self.storages[place], tensor) + grad
        self.storages[place] = name, tensor, bool(grad)
        if formula:
            return self.formula(formula, tensor) + grad
        whole = tensor.is_contiguous() and tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
        if whole:
            shape = "" if tensor.dim() == 1 else f".reshape({list(tensor.shape)})"
            return self.flat(tensor.reshape(-1)) + shape + grad
        elements = tensor.untyped_storage().nbytes() // tensor.element_size()
        storage = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage(), 0, [elements], [1])
        return self.flat(storage) + self.strided(tensor) + grad

    @classmethod
    def view(cls, name, owner, has_grad, tensor):
        """Returns how the tensor is taken out of `owner`, which has the name. A detached view cannot be written to
        under torch.compile: only a tensor that requires gradients is detached."""
        name += ".detach()" * has_grad
        if tensor.dtype != owner.dtype:
            place = f"{tensor.storage_offset()}, {list(tensor.shape)}, {list(tensor.stride())}"
            return f"torch.empty(0, dtype={tensor.dtype}).set_({name}.untyped_storage(), {place})"
        step = owner.stride(0) if owner.dim() else 0
        first, rest = divmod(tensor.storage_offset() - owner.storage_offset(), step) if step else (0, 1)
        if rest == 0 <= first:
            rows = owner.shape[0]
            if tensor.shape == owner.shape[1:] and tensor.stride() == owner.stride()[1:] and first < rows:
                return f"{name}[{first}]"
            end = first + tensor.shape[0] if tensor.dim() else rows + 1
            if tensor.shape[1:] == owner.shape[1:] and tensor.stride() == owner.stride() and end <= rows:
                return f"{name}[{first or ''}:{end if end < rows else ''}]"
        return name + cls.strided(tensor)

    @staticmethod
    def flat(tensor):
        return f"torch.tensor([{', '.join(shortest(tensor))}], dtype={tensor.dtype})"

    @staticmethod
    def strided(tensor):
        return f".as_strided({list(tensor.shape)}, {list(tensor.stride())}, {tensor.storage_offset()})"

    @staticmethod
    def formula(formula, tensor):
        kind = formula["kind"]
        shape = list(tensor.shape)
        dtype = "" if tensor.dtype == torch.float32 else f", dtype={tensor.dtype}"
        if kind == "arange":
            reshape = "" if len(shape) == 1 else f".reshape({shape})"
            return f"torch.arange({tensor.numel()}, dtype={tensor.dtype}){reshape}"
        if kind == "full":
            value = float(formula["number"])
            text = str(bool(value)) if tensor.dtype == torch.bool else number(value)
            if not tensor.is_floating_point() and tensor.dtype != torch.bool:
                text = repr(int(value))
            return f"torch.full({shape}, {text}, dtype={tensor.dtype})"
        if kind in ("randn", "rand"):
            half = tensor.dtype in (torch.float16, torch.bfloat16)
            drawn = f"torch.{kind}({shape}, generator=torch.Generator().manual_seed({formula['seed']})"
            return drawn + (f").to({tensor.dtype})" if half else dtype + ")")
        return f"torch.{kind}({shape}{dtype})"


class Repro:
    """`script` is the program with its constants as buffers; `inputs` are [name, role, formula, tensor]; a formula is
    a "kind", a "number" and a "seed", None where the tensor is data."""

    literals_of = Literals
    callable = "Repro().eval()"

    def __init__(self, script, inputs, facts):
        self.facts = facts
        taken = {name for name, role, *_ in inputs if role == "input"} | set(TAKEN)
        self.inputs = [[self.variable(name, taken) if role == "input" else name, role, *rest]
                       for name, role, *rest in inputs]  # fmt: skip
        self.script = script
        self.read_program(script)
        self.literals = self.make_literals()

    @staticmethod
    def variable(name, taken):
        """The name, or one that neither the script nor another input has."""
        if name in TAKEN:
            while name in taken:
                name += "_0"
            taken.add(name)
        return name

    def read_program(self, script):
        tensors = {name for name, _ in named_tensors(script)}
        self.objects = sorted(attributes_read(script) - tensors)  # packed parameters, which have no literal
        self.module, source = make_module(script)
        self.forward = source.splitlines()[1:]

    def make_literals(self):
        """name: expression; None when they are too long, or cannot be written down."""
        arguments, attributes = self.literals_of(self.facts["grad"]), self.literals_of(self.facts["grad"])
        places = [tensor.untyped_storage().data_ptr() for *_, tensor in self.inputs if tensor.layout == torch.strided]
        arguments.shared = attributes.shared = {place for place in places if places.count(place) > 1}
        texts = {}
        try:
            for name, role, formula, tensor in self.inputs:  # arguments and attributes stand in functions of their own
                texts[name] = (arguments.expression(name, formula, tensor) if role == "input" else
                               attributes.expression("self." + attribute_name(name), formula, tensor))  # fmt: skip
        except (TypeError, NotImplementedError, RuntimeError):
            return None
        return texts if sum(map(len, texts.values())) <= MOST_LITERAL_BYTES else None

    @property
    def attributes(self):
        return [(name, role) for name, role, _, _ in self.inputs if role != "input"]

    @property
    def arguments(self):
        return [(name, tensor) for name, role, _, tensor in self.inputs if role == "input"]

    def parts(self):
        """All that a PythonProgram of backends/in_python.h is made of."""
        return {
            "imports": self.imports(),
            "definition": "\n".join(self.definition()),
            "callable": self.callable + self.moved(),
            "statement": self.statement(),
            "inputs": self.named_inputs(),
            "writes": self.writes(),
            "draws": self.draws_random_numbers(),
            "is_module": True,
            "reads_files": self.literals is None or bool(self.objects),
            "reads_attributes": self.literals is None and bool(self.attributes),
        }

    def imports(self):
        used = {name for name in MODULES for line in self.forward if re.search(rf"\b{name}\.", line)}
        registering = [f"import {name}  # it registers operators" for name in imports.names]
        return [*(f"import {name}" for name in sorted(used)), *registering, "import torch"]

    def statement(self):
        """The program where it is one statement, as a person would name it in a sentence; else an empty string, as
        always here: a forward() of TorchScript is no sentence."""
        return ""

    def named_inputs(self):
        """[name, expression] of each; all at once, "x, y", where they are read from a file."""
        names = [name for name, _ in self.arguments]
        if self.literals is None and names:
            return [[", ".join(names) + ("," if len(names) == 1 else ""), self.loaded("inputs.pt")]]
        return [[name, self.literals[name] + self.moved(tensor)] for name, tensor in self.arguments]

    @staticmethod
    def loaded(name):
        return f'torch.load(Path(__file__).resolve().with_name("{name}"), weights_only=True)'

    def writes(self):
        """True if a call may write an input; always so here, where no operator is looked at."""
        return True

    def draws_random_numbers(self):
        for line in self.forward:
            _, found, rest = line.partition("torch.ops.")
            if found:
                place = torch.ops
                for word in rest.split("(")[0].split("."):
                    place = getattr(place, word)
                if torch.Tag.nondeterministic_seeded in place.tags:
                    return True
        return False

    def moved(self, tensor=None):
        """Returns the text that brings a tensor or a module to the device of the failure, where a tensor that needs
        gradients becomes a leaf again."""
        if self.facts["device"] == "cpu":
            return ""
        asks = tensor is not None and self.facts["grad"] and tensor.requires_grad
        return f".to({self.facts['device']!r})" + (".detach().requires_grad_()" if asks else "")

    def definition(self):
        lines = ["class Repro(torch.nn.Module):"]
        if self.attributes or self.objects:
            lines += ["    def __init__(self):", "        super().__init__()"]
            if self.objects:
                lines.append('        reduced = torch.jit.load(Path(__file__).resolve().with_name("reduced.pt"))')
            lines += [f"        self.{attribute_name(name)} = reduced.{name}" for name in self.objects]
            if self.literals is None:
                lines.append(f"        saved = {self.loaded('attributes.pt')}")
            for index, (name, role) in enumerate(self.attributes):
                value = self.literals[name] if self.literals else f"saved[{index}]"
                held = attribute_name(name)
                if role == "parameter":
                    grad = dict((n, t.requires_grad) for n, _, _, t in self.inputs)[name]
                    value = value.removesuffix(".requires_grad_()")
                    lines.append(f"        self.{held} = torch.nn.Parameter({value}, requires_grad={grad})")
                else:
                    lines.append(f'        self.register_buffer("{held}", {value})')
            lines.append("")
        return [*lines, *self.forward]
