"""300 generated programs: random graphs of 3 to 25 operators, as Python source, the same for the same seed.

A program is the text of a module and of its inputs. HALF and SINGLE in it stand for dtypes, so that one text gives
three programs: as it is run under autocast (bfloat16, float32), in float32 throughout, and in float64 as the reference.
"""

import hashlib
import random
import re
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

import operators
from operators import Pool, Value

SEED = 20261121
COUNT = 300
ATTEMPTS = 400  # tries to add an operator, most of which find something

DTYPES = {
    "bfloat16": {"HALF": torch.bfloat16, "SINGLE": torch.float32},
    "float32": {"HALF": torch.float32, "SINGLE": torch.float32},
    "float64": {"HALF": torch.float64, "SINGLE": torch.float64},
}


@dataclass(frozen=True)
class Flavour:
    """Holds what a family of programs is made of: makers with their weights, shapes and dtypes of inputs."""

    share: int
    makers: dict
    shapes: tuple
    inputs: tuple
    outputs: int = 4
    at_end: tuple = ()  # makers that give the last few operators


PLAIN_SHAPES = ((7,), (64,), (1000,), (8, 16), (17, 33), (3, 65), (40, 100), (2, 5, 8), (4, 16, 16), (3, 7, 31))
IMAGE_SHAPES = ((1, 3, 16, 16), (2, 4, 9, 9), (2, 8, 7, 5), (1, 6, 17, 13))
TINY_SHAPES = ((), (1,), (1, 1), (2,), (3, 1), (1, 5), (1, 1, 1, 1), (0,), (0, 4), (3, 0, 2))

FLOATS = ("torch.randn({shape})", "torch.randn({shape}).to(HALF)", "torch.rand({shape}) * 4 - 2")
TIES = ("torch.randint(-3, 4, {shape}).to(SINGLE)", "torch.randint(-3, 4, {shape}).to(HALF)")
WHOLES = (
    "torch.randint(-9, 10, {shape})",
    "torch.randint(-50, 50, {shape}, dtype=torch.int32)",
    "torch.randint(0, 256, {shape}, dtype=torch.uint8)",
    "torch.randint(-128, 128, {shape}, dtype=torch.int8)",
    "torch.rand({shape}) < 0.4",
)
DOUBLES = ("torch.randn({shape}, dtype=torch.float64)",)
EXTREMES = (
    "with_specials(torch.randn({shape}) * 3)",
    "with_specials(torch.randn({shape}).to(HALF))",
    "torch.randn({shape}) * 1e30",
)

SMOOTH = {
    operators.unary: 9,
    operators.with_number: 4,
    operators.binary: 6,
    operators.reduction: 3,
    operators.normalisation: 2,
    operators.view: 4,
    operators.joined: 1,
    operators.matrix: 4,
    operators.half: 1,
    operators.in_place: 1,
    operators.lookup: 1,
    operators.attention: 1,
    operators.cast: 1,
    operators.dropout: 1,
}
IMAGES = SMOOTH | {operators.image: 10, operators.normalisation: 4, operators.view: 1, operators.matrix: 1}
DISCRETE = SMOOTH | {
    operators.rounding: 4,
    operators.comparison: 3,
    operators.masked: 3,
    operators.logical: 1,
    operators.of_boolean: 1,
    operators.to_whole: 2,
    operators.argument_of_extreme: 2,
    operators.cancellation: 2,
    operators.half: 2,
}
DECISIONS = (
    *(operators.close_call,) * 4,
    operators.comparison,
    operators.to_whole,
    operators.argument_of_extreme,
    operators.rounding,
)
WHOLE = {
    operators.whole_numbers: 8,
    operators.whole_reduction: 3,
    operators.comparison: 2,
    operators.logical: 3,
    operators.of_boolean: 2,
    operators.masked: 2,
    operators.cast: 2,
    operators.view: 3,
    operators.joined: 1,
    operators.argument_of_extreme: 1,
    operators.unary: 2,
    operators.binary: 2,
    operators.lookup: 1,
}
EXTREME = {operators.extreme: 8, operators.unary: 2, operators.binary: 3, operators.reduction: 1, operators.view: 1}
TINY = SMOOTH | {operators.comparison: 1, operators.of_boolean: 1, operators.with_number: 6}
CANCELLING = {
    operators.cancellation: 5,
    operators.unary: 4,
    operators.binary: 3,
    operators.half: 3,
    operators.matrix: 3,
}

FLAVOURS = {
    "smooth": Flavour(85, SMOOTH, PLAIN_SHAPES, FLOATS + DOUBLES + WHOLES[:1]),
    "image": Flavour(40, IMAGES, IMAGE_SHAPES, FLOATS[:2]),
    "discrete": Flavour(75, DISCRETE, PLAIN_SHAPES, FLOATS + FLOATS[1:2] + TIES + WHOLES[4:], at_end=DECISIONS),
    "cancel": Flavour(25, CANCELLING, PLAIN_SHAPES, FLOATS, outputs=2),
    "whole": Flavour(30, WHOLE, PLAIN_SHAPES, WHOLES + TIES),
    "extreme": Flavour(20, EXTREME, PLAIN_SHAPES[:6], EXTREMES),
    "tiny": Flavour(25, TINY, TINY_SHAPES, FLOATS + WHOLES[:1] + WHOLES[4:]),
}


@dataclass(frozen=True)
class Program:
    name: str
    seed: int
    source: str

    @property
    def fingerprint(self):
        return hashlib.sha256(f"{self.seed}\n{self.source}".encode()).hexdigest()[:16]

    def build(self, precision):
        """The module in eval mode, and its inputs: a tuple. float64 is the reference of bfloat16 and of float32."""
        names = namespace("float32" if precision == "float32" else "bfloat16")
        exec(compile(self.source, self.name, "exec"), names)
        torch.manual_seed(self.seed)
        module = names["Program"]().eval().requires_grad_(False)
        inputs = names["inputs"]()
        if precision == "float64":
            # The same weights and inputs, widened; only then do the dtypes in forward change.
            names |= DTYPES[precision]
            module = module.double()
            inputs = tuple(value.double() if value.is_floating_point() else value for value in inputs)
        return module, inputs


def evaluated(norm):
    """A batch norm as training leaves it: statistics that are not 0 and 1."""
    with torch.no_grad():
        norm.running_mean.normal_(0, 0.5)
        norm.running_var.uniform_(0.5, 2)
        norm.weight.uniform_(0.5, 1.5)
        norm.bias.normal_(0, 0.5)
    return norm


def with_specials(tensor):
    """A NaN, infinities and negative zero among the elements."""
    flat = tensor.flatten()
    for position, special in enumerate((float("nan"), float("inf"), -float("inf"), -0.0, 88.7, -88.7)):
        if position * 3 < flat.numel():
            flat[position * 3] = special
    return flat.reshape(tensor.shape)


def namespace(precision):
    names = {"torch": torch, "nn": nn, "F": F, "evaluated": evaluated, "with_specials": with_specials}
    return names | DTYPES[precision]


# Makers whose results may be, or share memory with, what they read.
ALIASING = (operators.view, operators.cast, operators.half, operators.dropout)

# Makers whose operators autocast runs in half precision, all or most of them.
MULTIPLYING = (operators.matrix, operators.attention, operators.image)


class Writer:
    """Writes one program, operator by operator; each is tried on the meta device first."""

    def __init__(self, flavour, rng):
        self.flavour = flavour
        self.pool = Pool(rng)
        self.rng = rng
        self.names = namespace("bfloat16") | {"self": type("Self", (), {})()}
        self.statements = []  # (name, text, names that the text reads)
        self.inputs = []

    def input(self, text, shape):
        name = f"x{len(self.inputs)}"
        text = text.format(shape=list(shape))
        self.inputs.append(text)
        self.add(name, eval(text, self.names).to("meta"), half="HALF" in text, fresh=False)

    def add(self, name, meta, half, fresh):
        self.names[name] = meta
        self.pool.values.append(Value(name, meta, half, fresh))

    def operator(self, maker):
        """Appends one operator; false where the maker finds nothing, or its expression is not one here."""
        pool = self.pool
        pool.chosen = []
        modules = len(pool.modules)
        text = maker(pool)
        result = None if text is None else self.tried(text, pool.modules[modules:])
        if result is None or result.numel() > operators.LARGEST:
            del pool.modules[modules:]
            return False
        if maker is operators.in_place:
            pool.values.remove(pool.chosen[0])
        for value in pool.chosen:
            value.readers += 1
        name = f"v{len(self.statements)}"
        self.statements.append((name, text, [value.name for value in pool.chosen]))
        half = "HALF" in text or maker in MULTIPLYING or any(value.half for value in pool.chosen)
        self.add(name, result, half, fresh=maker not in ALIASING)
        return True

    def tried(self, text, modules):
        with torch.device("meta"):
            for name, made_by in modules:
                setattr(self.names["self"], name, eval(made_by, self.names))
            before = {value.name: value.meta.dtype for value in self.pool.chosen}
            try:
                result = eval(text, self.names)
            except (RuntimeError, IndexError, ValueError):
                return None  # such as an extreme of no elements, or a dimension that the shape lacks
        assert all(self.names[name].dtype == dtype for name, dtype in before.items())
        return result if result.device.type == "meta" else None

    def outputs(self):
        """Returns the names of the last values without readers; there is always one."""
        unread = [value for value in self.pool.values if not value.readers and value.name.startswith("v")]
        return [value.name for value in unread[-self.flavour.outputs :]]

    def live(self, outputs):
        """The statements that the outputs need, and the modules that those need."""
        needed, kept = set(outputs), []
        for name, text, reads in reversed(self.statements):
            if name in needed:
                needed.update(reads)
                kept.append(f"{name} = {text}")
        kept.reverse()
        modules = [f"self.{name} = {text}" for name, text in self.pool.modules if uses(kept, f"self.{name}")]
        return kept, modules

    def source(self):
        outputs = self.outputs()
        statements, modules = self.live(outputs)
        arguments = ", ".join(f"x{number}" for number in range(len(self.inputs)))
        lines = ["class Program(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        lines += [f"        {line}" for line in modules]
        lines += ["", f"    def forward(self, {arguments}):"]
        lines += [f"        {statement}" for statement in statements]
        lines += [f"        return {', '.join(outputs)}{',' if len(outputs) == 1 else ''}", "", ""]
        lines += ["def inputs():", "    return ("]
        lines += [f"        {text}," for text in self.inputs]
        lines += ["    )", ""]
        return "\n".join(lines), len(statements)


def uses(statements, name):
    return any(re.search(rf"{re.escape(name)}\b", statement) for statement in statements)


def written(flavour, seed):
    """The source of one program, and how many operators it has."""
    rng = random.Random(seed)
    writer = Writer(flavour, rng)
    shape = rng.choice(flavour.shapes)
    for _ in range(rng.randrange(1, 4)):
        # The second and third often have the shape of the first, so that operators of two values find a pair.
        writer.input(rng.choice(flavour.inputs), shape if rng.random() < 0.7 else rng.choice(flavour.shapes))
    if not any(value.floating for value in writer.pool.values) and operators.matrix in flavour.makers:
        writer.input(FLOATS[0], shape)
    wanted = rng.randrange(3, 26)
    makers, weights = list(flavour.makers), list(flavour.makers.values())
    ending = min(wanted // 3, rng.randrange(1, 4)) if flavour.at_end else 0
    for _ in range(ATTEMPTS):
        if len(writer.statements) == wanted:
            break
        if len(writer.statements) >= wanted - ending:
            writer.pool.prefer_half = True
            writer.operator(rng.choice(flavour.at_end))
        else:
            writer.operator(rng.choices(makers, weights)[0])
    return writer.source()


def write(name, flavour, rng):
    while True:
        seed = rng.randrange(2**31)
        source, operators_in_it = written(flavour, seed)
        if operators_in_it >= 3:
            return Program(name, seed, source)


def generate(seed=SEED):
    """All programs, in order; the flavours are mixed so that any stretch of them is a fair sample."""
    rng = random.Random(seed)
    flavours = [name for name, flavour in FLAVOURS.items() for _ in range(flavour.share)]
    assert len(flavours) == COUNT
    rng.shuffle(flavours)
    for number, flavour in enumerate(flavours):
        yield write(f"p{number:03}_{flavour}", FLAVOURS[flavour], rng)
