"""The operators that generated programs are made of: each maker looks at the values there are and writes one
expression.

A maker takes a Pool and returns the text of an expression, or None where nothing fits. It decides by shapes and dtypes
alone (values are on the meta device), so that the programs are the same on every machine. Arguments are kept where the
operator is defined: no logarithm of a negative number, no index out of range.
"""

import math

import torch

LARGEST = 6000  # elements of any value


class Value:
    """One value of a program: its name, and a tensor on the meta device that has its shape and dtype."""

    def __init__(self, name, meta, half, fresh):
        self.name = name
        self.meta = meta
        self.half = half  # rounded to half precision somewhere on its way, under autocast
        self.fresh = fresh  # allocated by the operator that made it, so that it may be written to
        self.readers = 0

    @property
    def shape(self):
        return tuple(self.meta.shape)

    @property
    def rank(self):
        return self.meta.dim()

    @property
    def floating(self):
        return self.meta.is_floating_point()

    @property
    def double(self):
        return self.meta.dtype == torch.float64

    @property
    def boolean(self):
        return self.meta.dtype == torch.bool

    @property
    def integral(self):
        return not self.floating and not self.boolean


class Pool:
    """The values so far, and what the makers need: a random choice, parameters and modules of their own."""

    def __init__(self, rng):
        self.rng = rng
        self.values = []
        self.modules = []  # (name, text that makes it)
        self.chosen = []  # values that the expression at hand reads
        self.prefer_half = False

    def take(self, wanted=lambda value: True):
        """Returns a value that fits, more likely a recent one without readers; the expression at hand reads it."""
        fitting = [value for value in self.values if wanted(value)]
        if not fitting:
            return None
        unread = [value for value in fitting if not value.readers]
        if unread and self.rng.random() < 0.6:
            fitting = unread
        if self.prefer_half:
            halves = [value for value in fitting if value.half]
            fitting = [value for value in halves if value.floating] or halves or fitting
        position = int(len(fitting) * math.sqrt(self.rng.random()))
        value = fitting[position]
        self.chosen.append(value)
        return value

    def floating(self, wanted=lambda value: True):
        return self.take(lambda value: value.floating and wanted(value))

    def beside(self, value, same_dtype=False):
        """The name of something that broadcasts with a value: another value, or a parameter of its own."""
        other = None
        if self.rng.random() < 0.75:
            other = self.take(
                lambda candidate: (
                    candidate is not value
                    and broadcasts(candidate.shape, value.shape)
                    and candidate.floating == value.floating
                    and candidate.boolean == value.boolean
                    and (not same_dtype or candidate.meta.dtype == value.meta.dtype)
                )
            )
        if other is not None:
            return other.name
        shape = [size if self.rng.random() < 0.6 else 1 for size in value.shape]
        if value.boolean:
            return self.module(f"nn.Buffer(torch.rand({shape}) < 0.5)")
        if value.integral:
            return self.module(f"nn.Buffer(torch.randint(0, 9, {shape}, dtype={value.meta.dtype}))")
        return self.module(f"nn.Parameter(torch.randn({shape}))")

    def module(self, text):
        name = f"m{len(self.modules)}"
        self.modules.append((name, text))
        return f"self.{name}"

    def number(self):
        return self.rng.choice(["0.5", "2", "-1.5", "0.1", "3", "1.0", "-0.25", "7.3", "0.003"])

    def dim(self, value):
        return self.rng.randrange(-value.rank, value.rank) if value.rank else 0


def broadcasts(first, second):
    for a, b in zip(reversed(first), reversed(second)):
        if a != b and a != 1 and b != 1:
            return False
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    padded = (1,) * (len(longer) - len(shorter)) + tuple(shorter)
    return math.prod(max(a, b) if a and b else 0 for a, b in zip(longer, padded)) <= LARGEST


UNARY = (
    "torch.relu({0})",
    "torch.sigmoid({0})",
    "torch.tanh({0})",
    "F.gelu({0})",
    "F.gelu({0}, approximate='tanh')",
    "F.silu({0})",
    "torch.exp({0}.clamp(max=3.0))",
    "torch.expm1({0}.clamp(max=2.0))",
    "torch.log1p({0}.abs())",
    "torch.sqrt({0}.abs())",
    "torch.rsqrt({0}.abs() + 0.25)",
    "torch.abs({0})",
    "torch.neg({0})",
    "torch.reciprocal({0}.abs() + 0.5)",
    "torch.erf({0})",
    "torch.pow({0}.abs() + 0.1, 1.5)",
    "{0}.pow(2)",
    "{0}.clamp(-1.0, 1.5)",
    "{0}.clamp(min=-0.75)",
    "F.hardswish({0})",
    "F.hardtanh({0})",
    "F.hardsigmoid({0})",
    "F.leaky_relu({0}, 0.1)",
    "F.elu({0})",
    "F.softplus({0})",
    "F.mish({0})",
    "F.relu6({0})",
    "F.logsigmoid({0})",
    "torch.sin({0})",
    "torch.cos({0})",
    "torch.atan({0})",
)

ROUNDING = (
    "torch.round({0})",
    "torch.floor({0})",
    "torch.ceil({0})",
    "torch.trunc({0})",
    "torch.round({0} * 4) / 4",
    "torch.sign({0})",
    "torch.frac({0})",
    "torch.floor({0} * 3.0 + 0.5)",
    "torch.remainder({0}, 0.75)",
)

COMPARISONS = ("torch.gt", "torch.ge", "torch.lt", "torch.le", "torch.eq", "torch.ne")


def unary(pool):
    value = pool.floating()
    return value and pool.rng.choice(UNARY).format(value.name)


def dropout(pool):
    """Writes a dropout in evaluation, where it has no effect and gives back its very argument."""
    value = pool.floating()
    return value and f"F.dropout({value.name}, 0.5, False)"


def with_number(pool):
    value = pool.floating()
    if value is None:
        return None
    text = pool.rng.choice(("{0} + {1}", "{0} - {1}", "{1} - {0}", "{0} * {1}", "{0} / {1}"))
    return text.format(value.name, pool.number())


def binary(pool):
    value = pool.floating()
    if value is None:
        return None
    other = pool.beside(value)
    text = pool.rng.choice(
        (
            "{0} + {1}",
            "{0} - {1}",
            "{0} * {1}",
            "{0} / ({1}.abs() + 0.5)",
            "torch.add({0}, {1}, alpha=0.5)",
            "torch.sub({0}, {1}, alpha=2)",
            "torch.minimum({0}, {1})",
            "torch.maximum({0}, {1})",
            "torch.where({0} > 0.25, {0}, {1})",
            "torch.where({1} < 0, {0} * 0.5, {1})",
            "torch.addcmul({0}, {0}, {1}, value=0.1)",
        )
    )
    return text.format(value.name, other)


def cancellation(pool):
    """Large terms that nearly cancel: what is left is the rounding between them."""
    value = pool.floating()
    if value is None:
        return None
    other = pool.beside(value)
    text = pool.rng.choice(
        (
            "{0} * 1000 - ({0} * 1000 + {1} * 0.5)",
            "({0} + 100) - 100",
            "torch.exp(torch.log1p({0}.abs() * 3)) - {0}.abs() * 3",
            "({0} * 1.01 - {0}) * 100",
            "({0} + {1}) - {1}",
            "({0} - {0}.to(HALF).to(SINGLE)) * 300",
            "({0} * {0} - {1} * {1}) - ({0} - {1}) * ({0} + {1})",
        )
    )
    return text.format(value.name, other)


def rounding(pool):
    value = pool.floating()
    return value and pool.rng.choice(ROUNDING).format(value.name)


def comparison(pool):
    value = pool.take(lambda candidate: not candidate.boolean)
    if value is None:
        return None
    operator = pool.rng.choice(COMPARISONS)
    if pool.rng.random() < 0.4:
        number = pool.number() if value.floating else str(pool.rng.randrange(5))
        return f"{operator}({value.name}, {number})"
    return f"{operator}({value.name}, {pool.beside(value)})"


def close_call(pool):
    """A decision that hangs on the rounding between half-precision operators."""
    value = pool.floating(lambda candidate: candidate.rank and candidate.meta.numel())
    if value is None:
        return None
    text = pool.rng.choice(
        (
            "torch.gt({0}.to(HALF) * 3 - {0}.to(HALF), {0}.to(HALF) * 2)",
            "torch.eq(torch.tanh({0}.to(HALF)) * 0.7 / 0.7, torch.tanh({0}.to(HALF)))",
            "torch.ge(torch.sigmoid({0}.to(HALF)) + torch.sigmoid(-{0}.to(HALF)), 1)",
            "(torch.exp({0}.to(HALF).clamp(max=3.0)) * 16 + 0.5).to(torch.int32)",
            "torch.lt(F.silu({0}.to(HALF)) * 1.3 - 0.1, F.gelu({0}.to(HALF)))",
            "torch.where({0}.to(HALF) * 1.7 - 1 > {0}.to(HALF) * 0.7, 1, 0)",
            "(torch.sin({0}.to(HALF)) * 100 + 128).clamp(0, 255).to(torch.uint8)",
            "torch.floor(torch.sigmoid({0}.to(HALF)) * 60 + 0.3).to(torch.int64)",
            "torch.le(torch.softmax({0}.to(HALF) * 0.5, -1) * 3 + 1, 1.125)",
            "torch.argmax(torch.round(F.softplus({0}.to(HALF)) * 1.1 - 0.2), -1)",
        )
    )
    return text.format(value.name)


def to_whole(pool):
    """Floating point to an integer type, inside the range in which that is defined."""
    value = pool.floating()
    if value is None:
        return None
    dtype, low, high = pool.rng.choice(
        (("int32", -3e4, 3e4), ("int64", -3e4, 3e4), ("uint8", 0.0, 255.0), ("int8", -127.0, 127.0))
    )
    scale = pool.rng.choice((1, 4, 20))
    return f"torch.clamp({value.name} * {scale}, {low}, {high}).to(torch.{dtype})"


def argument_of_extreme(pool):
    value = pool.take(lambda candidate: not candidate.boolean and candidate.meta.numel())
    if value is None:
        return None
    operator = pool.rng.choice(("argmax", "argmin"))
    if value.rank == 0 or pool.rng.random() < 0.2:
        return f"torch.{operator}({value.name})"
    return f"torch.{operator}({value.name}, dim={pool.dim(value)}, keepdim={pool.rng.random() < 0.5})"


def cast(pool):
    value = pool.take()
    dtype = pool.rng.choice(("HALF", "HALF", "SINGLE", "torch.float64"))
    if dtype == "SINGLE" and value.meta.dtype == torch.float32:
        # Half precision under autocast, but not while it is traced: a trace of what returns its argument
        # lets all later readers of the argument read the result.
        return f"{value.name}.to(SINGLE, copy=True)"
    return f"{value.name}.to({dtype})"


def half(pool):
    value = pool.floating(lambda candidate: not candidate.double)
    return value and f"{value.name}.to(HALF)"


def logical(pool):
    value = pool.take(lambda candidate: candidate.boolean)
    if value is None:
        return None
    if pool.rng.random() < 0.2:
        return f"torch.logical_not({value.name})"
    operator = pool.rng.choice(("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or"))
    return f"torch.{operator}({value.name}, {pool.beside(value)})"


def masked(pool):
    mask = pool.take(lambda candidate: candidate.boolean)
    if mask is None:
        return None
    value = pool.floating(lambda candidate: broadcasts(candidate.shape, mask.shape))
    if value is None:
        return f"torch.where({mask.name}, 1.5, -0.5).to(SINGLE)"
    if pool.rng.random() < 0.4:
        return f"torch.where({mask.name}, {value.name}, {pool.number()})"
    return f"torch.where({mask.name}, {value.name} * 2, torch.tanh({value.name}))"


def of_boolean(pool):
    value = pool.take(lambda candidate: candidate.boolean)
    if value is None:
        return None
    texts = ["{0}.to(SINGLE)", "{0}.to(torch.int64)", "{0}.sum()", "torch.any({0})", "torch.all({0})"]
    if value.rank:
        texts += ["{0}.sum({1})", "torch.any({0}, {1})", "torch.all({0}, {1})", "torch.cumsum({0}, {1})"]
    return pool.rng.choice(texts).format(value.name, pool.dim(value))


def whole_numbers(pool):
    value = pool.take(lambda candidate: candidate.integral)
    if value is None:
        return None
    text = pool.rng.choice(
        (
            "{0} + {1}",
            "{0} - {1}",
            "{0} * {1}",
            "torch.maximum({0}, {1})",
            "torch.minimum({0}, {1})",
            "{0} & {1}",
            "{0} | {1}",
            "{0} ^ {1}",
            "torch.div({0}, 3, rounding_mode='floor')",
            "torch.div({0}, 5, rounding_mode='trunc')",
            "torch.remainder({0}, 7)",
            "{0} / 4",
            "{0} * 2 - 1",
            "torch.clamp({0}, 1, 5)",
            "{0}.abs()",
            "{0} >> 1",
        )
    )
    return text.format(value.name, pool.beside(value) if "{1}" in text else "")


def whole_reduction(pool):
    value = pool.take(lambda candidate: candidate.integral and candidate.meta.numel() and candidate.rank)
    if value is None:
        return None
    text = pool.rng.choice(
        (
            "{0}.sum({1})",
            "{0}.sum()",
            "torch.amax({0}, {1})",
            "torch.prod({0}.clamp(0, 2), {1})",
            "torch.cumsum({0}, {1})",
            "{0}.to(SINGLE).mean({1})",
        )
    )
    return text.format(value.name, pool.dim(value))


def reduction(pool):
    value = pool.floating(lambda candidate: candidate.rank and candidate.meta.numel())
    if value is None:
        return None
    keep = pool.rng.random() < 0.5
    text = pool.rng.choice(
        (
            "{0}.sum({1}, keepdim={2})",
            "{0}.mean({1}, keepdim={2})",
            "{0}.sum()",
            "{0}.mean()",
            "torch.amax({0}, {1}, keepdim={2})",
            "torch.amin({0}, {1}, keepdim={2})",
            "torch.var({0}, {1}, correction=0, keepdim={2})",
            "torch.softmax({0}, {1})",
            "torch.log_softmax({0}, {1})",
            "torch.softmax({0}, {1})",
            "torch.cumsum({0}, {1})",
            "torch.logsumexp({0}, {1}, keepdim={2})",
            "torch.linalg.vector_norm({0}, dim={1}, keepdim={2})",
        )
    )
    return text.format(value.name, pool.dim(value), keep)


def normalisation(pool):
    value = pool.floating(lambda candidate: candidate.rank and not candidate.double and candidate.meta.numel())
    if value is None:
        return None
    if value.rank == 4 and pool.rng.random() < 0.6:
        channels = value.shape[1]
        if pool.rng.random() < 0.6:
            return f"{pool.module(f'evaluated(nn.BatchNorm2d({channels}))')}({value.name})"
        groups = next(count for count in (4, 2, 3, 1) if channels % count == 0)
        return f"{pool.module(f'nn.GroupNorm({groups}, {channels})')}({value.name})"
    return f"{pool.module(f'nn.LayerNorm({value.shape[-1]})')}({value.name})"


def view(pool):
    value = pool.take(lambda candidate: candidate.rank and candidate.meta.numel())
    if value is None:
        return None
    rng, dim, name = pool.rng, pool.dim(value), value.name
    size = value.shape[dim]
    texts = [f"{name}.unsqueeze({dim})", f"{name}.flatten()", f"{name}.select({dim}, {rng.randrange(size)})"]
    if value.rank > 1:
        order = list(range(value.rank))
        rng.shuffle(order)
        texts += [f"{name}.transpose({dim}, {pool.dim(value)})", f"{name}.permute({order})", f"{name}.flatten(0, 1)"]
        texts += [f"{name}.permute({order}).contiguous()"]
    if size > 1:
        start = rng.randrange(size - 1)
        texts += [f"torch.narrow({name}, {dim}, {start}, {rng.randrange(1, size - start + 1)})"]
        texts += [f"torch.chunk({name}, 2, {dim})[{rng.randrange(2)}]"]
    if size > 3:
        texts += [f"{name}[..., ::2]", f"torch.flip({name}, [{dim}])", f"torch.roll({name}, 1, {dim})"]
    if size == 1 and value.meta.numel() * 5 <= LARGEST:
        sizes = [-1] * value.rank
        sizes[dim] = 5
        texts += [f"{name}.expand({sizes})"] * 3
    factors = [factor for factor in (2, 3, 4, 5) if value.meta.numel() % factor == 0]
    if factors:
        texts += [f"{name}.reshape({rng.choice(factors)}, -1)", f"{name}.reshape(-1, {rng.choice(factors)})"]
    return rng.choice(texts)


def joined(pool):
    value = pool.take(lambda candidate: candidate.rank and 2 * candidate.meta.numel() <= LARGEST)
    if value is None:
        return None
    others = pool.take(lambda other: other.shape == value.shape and other.floating == value.floating)
    if pool.rng.random() < 0.5:
        return f"torch.stack([{value.name}, {others.name}], {pool.rng.randrange(value.rank + 1)})"
    return f"torch.cat([{value.name}, {others.name}], {pool.dim(value)})"


def single(value):
    """For operators that want the dtype of their parameters even without autocast, as when they are traced."""
    return value.name if value.meta.dtype == torch.float32 else f"{value.name}.to(SINGLE)"


def matrix(pool):
    """A product of matrices: what autocast runs in half precision."""
    value = pool.floating(lambda candidate: candidate.rank and candidate.shape[-1] and candidate.shape[-1] <= 512)
    if value is None:
        return None
    name = single(value)
    inner, outer = value.shape[-1], pool.rng.choice((1, 3, 8, 16, 17, 33))
    if value.meta.numel() // inner * outer > LARGEST:
        return None
    weight = f"nn.Parameter(torch.randn({inner}, {outer}) * {inner**-0.5:.4f})"
    if value.rank == 2 and pool.rng.random() < 0.4:
        bias = pool.module(f"nn.Parameter(torch.randn({outer}))")
        return f"torch.addmm({bias}, {name}, {pool.module(weight)})"
    if value.rank == 3 and pool.rng.random() < 0.5:
        weights = f"nn.Parameter(torch.randn({value.shape[0]}, {inner}, {outer}) * {inner**-0.5:.4f})"
        return f"torch.bmm({name}, {pool.module(weights)})"
    if pool.rng.random() < 0.3:
        return f"torch.matmul({name}, {pool.module(weight)})"
    return f"{pool.module(f'nn.Linear({inner}, {outer})')}({name})"


def attention(pool):
    value = pool.floating(lambda candidate: candidate.rank == 3 and not candidate.double and candidate.meta.numel())
    if value is None:
        return None
    scale = value.shape[-1] ** -0.5
    scores = f"torch.bmm({value.name}, {value.name}.transpose(1, 2)) * {scale:.4f}"
    if value.shape[0] * value.shape[1] ** 2 > LARGEST:
        return None
    return f"torch.bmm(torch.softmax({scores}, -1), {value.name})"


def image(pool):
    value = pool.floating(lambda candidate: candidate.rank == 4 and min(candidate.shape) > 0 and not candidate.double)
    if value is None:
        return None
    channels, height, width = value.shape[1:]
    texts = [f"F.adaptive_avg_pool2d({value.name}, 1)"]
    if min(height, width) >= 2:
        texts += [f"F.max_pool2d({value.name}, 2)", f"F.avg_pool2d({value.name}, 2)"]
        texts += [f"F.adaptive_avg_pool2d({value.name}, 2)"]
    if value.meta.numel() * 4 <= LARGEST:
        texts += [f"F.interpolate({value.name}, scale_factor=2, mode='nearest')", f"F.pad({value.name}, [1, 0, 2, 1])"]
    out = pool.rng.choice((1, 4, 6, 8))
    if value.meta.numel() // channels * out <= LARGEST and channels <= 32 and pool.rng.random() < 0.6:
        kernel = pool.rng.choice((1, 3)) if min(height, width) >= 3 else 1
        convolution = f"nn.Conv2d({channels}, {out}, {kernel}, padding={kernel // 2})"
        if pool.rng.random() < 0.3:
            convolution = f"nn.Conv2d({channels}, {channels}, {kernel}, padding={kernel // 2}, groups={channels})"
        return f"{pool.module(convolution)}({single(value)})"
    return pool.rng.choice(texts)


def lookup(pool):
    """Rows by index: of a table by an input of indices, or of a value by indices kept in the program."""
    index = pool.take(lambda candidate: candidate.meta.dtype == torch.int64 and candidate.meta.numel() <= 300)
    if index is not None and pool.rng.random() < 0.6:
        rows = 10
        table = pool.module(f"nn.Embedding({rows}, {pool.rng.choice((3, 8, 17))})")
        return f"{table}(torch.remainder({index.name}, {rows}))"
    value = pool.floating(lambda candidate: candidate.rank and candidate.meta.numel())
    if value is None:
        return None
    dim = pool.rng.randrange(value.rank)
    size = value.shape[dim]
    if pool.rng.random() < 0.5:
        rows = pool.module(f"nn.Buffer(torch.randint(0, {size}, [{pool.rng.randrange(1, 6)}]))")
        return f"torch.index_select({value.name}, {dim}, {rows})"
    rows = pool.module(f"nn.Buffer(torch.randint(0, {size}, {list(value.shape)}))")
    return f"torch.gather({value.name}, {dim}, {rows})"


def in_place(pool):
    """Writes to a value that was not read yet: it goes on under another name."""
    value = pool.floating(lambda candidate: candidate.fresh and not candidate.readers)
    if value is None:
        return None
    text = pool.rng.choice(("{0}.add_({1})", "{0}.mul_({1})", "{0}.relu_()", "{0}.clamp_(-2, 2)", "{0}.sub_({1})"))
    return text.format(value.name, pool.number())


def extreme(pool):
    """Where infinities and NaN are made, carried or swallowed, and where decompositions overflow."""
    value = pool.floating()
    if value is None:
        return None
    other = pool.beside(value)
    text = pool.rng.choice(
        (
            "torch.exp({0} * 40)",
            "torch.log({0})",
            "torch.sqrt({0})",
            "{0} / ({1} - {1})",
            "torch.maximum({0}, {1})",
            "torch.minimum({0}, {1})",
            "torch.relu({0})",
            "F.hardtanh({0})",
            "F.hardswish({0})",
            "F.leaky_relu({0})",
            "{0}.clamp(-1.0, 1.0)",
            "torch.sigmoid({0} * 100)",
            "torch.tanh({0} * 100)",
            "F.softplus({0} * 30)",
            "torch.isnan({0})",
            "torch.isinf({0})",
            "torch.nan_to_num({0})",
            "torch.nan_to_num({0}, nan=0.5, posinf=9.0, neginf=-9.0)",
            "torch.softmax({0} * 50, -1)" if value.rank else "torch.sign({0})",
            "torch.pow({0}, 2.5)",
            "torch.pow({0}.abs(), -1.5)",
            "{0} * 3e38",
            "{0} * 1e-40",
            "torch.where(torch.isfinite({0}), {0}, {1})",
            "torch.expm1({0} * 0.001)",
            "torch.signbit(torch.nan_to_num({0}))",
            "torch.fmod({0}, 0.3)",
            "torch.atan2({0}, {1})",
            "torch.hypot({0}, {1})",
        )
    )
    return text.format(value.name, other)
