"""Draws random pairs of results, asks torch._dynamo.utils.same about each, and writes pairs and answers to one file.

    python same_oracle.py FILE COUNT SEED

FILE holds (pools, cases) and can be read by torch::jit::pickle_load. A case is (ref, res, fp64_ref, options, answer,
raised). All tensors of one dtype lie one after the other in a pool, since a file of a hundred thousand small tensors is
slow to read; what C++ cannot unpickle stands there as a marker, a tuple that starts with a name:
    ("#tensor", dtype, offset, shape, layout, requires_grad)    layout: "strided", "transposed" or "sparse"
    ("#int", digits)    ("#device", name)    ("#complex", real, imag)    ("#object", class, attributes)
"""

import logging
import math
import random
import sys
import warnings

try:
    import torch
    from torch._dynamo.utils import same
except ImportError as error:
    print(error)
    sys.exit(77)  # the test is skipped

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]
WHOLE = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
SHAPES = [(), (0,), (3, 0), (1,), (4,), (3, 4), (2, 3, 4), (1, 1), (9,), (10,), (11,), (499,), (500,), (501,), (999,)]
SHAPES += [(1000,), (1001,), (40, 30), (2, 5, 1, 1), (2, 250, 1, 1), (1, 1000, 1, 1), (2, 600, 1, 1), (2, 5, 2, 1)]
SHAPES += [(1, 1000, 1), (10, 100, 1, 2)]
TOLERANCES = [1e-4, 1e-4, 1e-3, 1e-3, 1e-3, 1e-2, 0.0199, 2e-2, 4e-2, 0.0]
OPTION_NAMES = [
    "cos_similarity",
    "tol",
    "equal_nan",
    "exact_dtype",
    "ignore_non_fp",
    "use_iou_for_bool",
    "iou_threshold",
]
OPTION_NAMES += ["use_larger_multiplier_for_smaller_tensor", "force_max_multiplier"]


class Foo:
    """One of the class names whose attributes PyTorch compares."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def chance(probability):
    return random.random() < probability


def draw_options():
    return {
        "cos_similarity": chance(0.08),
        "tol": random.choice(TOLERANCES),
        "equal_nan": chance(0.6),
        "exact_dtype": chance(0.8),
        "ignore_non_fp": chance(0.2),
        "use_larger_multiplier_for_smaller_tensor": chance(0.3),
        "force_max_multiplier": chance(0.15),
        "use_iou_for_bool": chance(0.4),
        "iou_threshold": random.choice([0.99, 0.99, 0.5, 0.9]),
    }


def rms(values):
    return values.abs().square().mean().sqrt().item() if values.numel() else 0.0


def multiplier(size, shape, dtype, options):
    """Only aims the errors at the threshold: a mistake here makes the cases duller, not the test wrong."""
    if options["force_max_multiplier"]:
        return 10.0
    if options["use_larger_multiplier_for_smaller_tensor"] and size <= 500:
        return 10.0 if size <= 10 else 8.0
    if size < 1000 or (len(shape) == 4 and shape[-1] == shape[-2] == 1) or options["tol"] >= 0.02:
        return 3.0
    return 3.0 if dtype in (torch.float16, torch.bfloat16) else 2.0


def sprinkle(values, specials, share):
    """Overwrites some elements, at the same places each time that it is called with the same `share` list of
    indices."""
    flat = values.reshape(-1)
    for index in share:
        wide = torch.complex128 if values.is_complex() else torch.float64
        flat[index] = torch.tensor(random.choice(specials), dtype=wide).to(values.dtype)
    return flat.reshape(values.shape)


def some_indices(size):
    return random.sample(range(size), min(size, random.choice([1, 1, 2, 5]))) if size else []


def near(threshold):
    """Just under, just over, or at a threshold."""
    return threshold * random.choice([1 - 1e-2, 1 - 1e-4, 1 - 1e-6, 1, 1 + 1e-6, 1 + 1e-4, 1 + 1e-2])


def noise_like(base):
    """Everywhere, or in a single element: the latter fails allclose long before it moves the mean."""
    if chance(0.5) or base.numel() == 0:
        return torch.randn_like(base)
    noise = torch.zeros_like(base).reshape(-1)
    noise[random.randrange(base.numel())] = random.choice([-1.0, 1.0])
    return noise.reshape(base.shape)


def eager_result(base, dtype, options):
    scale = random.choice([0, 0, options["tol"], 10 * options["tol"], 0.3])
    return (base + scale * torch.randn_like(base)).to(dtype)


def wrong_by(ref, base, dtype, options):
    """The optimised result, off by an amount that one of the thresholds is near to."""
    tol = options["tol"]
    wide_ref = ref.to(base.dtype)
    kind = random.choice(["none", "close", "close", "rmse", "rmse", "rmse", "gross", "angle"])
    if kind == "none":
        return ref.clone()
    if kind == "close":  # |ref - res| = tol + tol * |res|
        sign = noise_like(base)
        sign = sign / sign.abs().clamp_min(1e-30) * (sign != 0)
        return (wide_ref + near(1.0) * sign * (tol + tol * (wide_ref.abs() + tol))).to(dtype)
    if kind == "rmse":  # rmse(fp64, res) = m * rmse(fp64, ref) + tol / 10
        allowed = multiplier(base.numel(), base.shape, dtype, options) * rms(wide_ref - base) + tol / 10
        noise = noise_like(base)
        size = rms(noise)
        return (base + noise * (near(allowed) / size if size else 0)).to(dtype)
    if kind == "angle":  # cosine similarity 0.99
        angle = near(math.acos(0.99))
        return (wide_ref * math.cos(angle) + wide_ref.abs().mean() * torch.randn_like(base) * math.sin(angle)).to(dtype)
    return (wide_ref + random.choice([0.1, 1, 100]) * noise_like(base)).to(dtype)


def better_than_nan(base, dtype):
    """Eager has a NaN, and one element of the result is just within, or not within, 4e-2 of the reference."""
    ref, res = base.to(dtype), base.clone()
    for index in some_indices(base.numel()):
        element = base.view(-1)[index]
        direction = element.sgn() if element != 0 else 1
        res.view(-1)[index] += direction * near(4e-2 * (1 + element.abs()) / (1 - 4e-2))
        ref = sprinkle(ref, [math.nan], [index])
    return ref, res.to(dtype), base


def draw_reference(ref, base):
    """The fp64 reference: mostly there, sometimes absent or of no use."""
    pick = random.random()
    if pick < 0.25:
        return None
    if pick < 0.92:
        return base
    if pick < 0.95:
        return base.to(torch.complex64 if base.is_complex() else torch.float32)
    if pick < 0.97:
        return base.reshape(-1)[:1].clone() if base.numel() else None
    return random.choice([ref, base + 0.5, 1.0, 2, "none", [1.0]])


def specials_for(dtype):
    values = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1e-310, 65520.0, 1e39]
    return values if dtype not in COMPLEX else values + [complex(math.nan, 1), complex(2, math.inf)]


def add_specials(ref, res, base):
    """NaN, Inf, signed zeros and denormals on either side, on both, or in the reference."""
    where = some_indices(base.numel())
    specials = [random.choice(specials_for(ref.dtype))]
    if chance(0.15):
        specials = specials_for(ref.dtype)
    parts = random.choice(
        ["ref", "res", "ref res", "ref res", "ref res", "ref res fp64", "ref res fp64", "fp64", "ref fp64"]
    )
    if "ref" in parts.split():
        ref = sprinkle(ref.clone(), specials, where)
    if "res" in parts.split():
        res = sprinkle(res.clone(), specials, where)
    if "fp64" in parts.split():
        base = sprinkle(base.clone(), specials, where)
    return ref, res, base


def other_shape(tensor):
    choices = [
        tensor.reshape(-1),
        tensor.unsqueeze(0),
        tensor.unsqueeze(-1),
        tensor.reshape(-1)[:1],
        tensor.reshape(-1)[:2],
    ]
    if tensor.numel() < 600:
        choices += [tensor.expand(3, *tensor.shape), tensor.expand(1, 2, *tensor.shape)]
    return random.choice(choices).clone()


def float_pair(options, dtype):
    shape = random.choice(SHAPES)
    wide = torch.complex128 if dtype in COMPLEX else torch.float64
    base = torch.randn(shape, dtype=wide) * random.choice([1, 1, 1, 1e-3, 100, 1e-40, 3e4])
    if chance(0.03):
        return better_than_nan(base, dtype)
    ref = eager_result(base, dtype, options)
    res = wrong_by(ref, base, dtype, options)
    if chance(0.25):
        ref, res, base = add_specials(ref, res, base)
    return ref, res, draw_reference(ref, base)


def whole_pair(options, dtype):
    ref = torch.randint(0, random.choice([2, 100, 127]), random.choice(SHAPES)).to(dtype)
    if dtype == torch.int64 and chance(0.3):
        ref = ref * 12345678901
    res = ref.clone()
    if chance(0.6) and res.numel():
        for index in some_indices(res.numel()):
            res.view(-1)[index] += random.choice([1, 1, 3])
    reference = random.choice([None, None, ref, ref.double(), ref.double() + 0.3])
    return ref, res, reference


def bool_pair(options):
    ref = torch.rand(random.choice(SHAPES)) < random.choice([0.0, 0.5, 0.9, 1.0])
    res = ref.clone()
    if chance(0.7) and res.numel():
        flips = random.sample(range(res.numel()), min(res.numel(), random.choice([1, 2, 5, 10, 50, 250])))
        for index in flips:
            res.view(-1)[index] = ~res.view(-1)[index]
    return ref, res, random.choice([None, None, None, ref, ref.double()])


def tensor_pair(options):
    dtype = random.choice(FLOATS * 5 + COMPLEX * 2 + WHOLE + [torch.bool] * 3)
    if dtype == torch.bool:
        ref, res, reference = bool_pair(options)
    elif dtype in WHOLE:
        ref, res, reference = whole_pair(options, dtype)
    else:
        ref, res, reference = float_pair(options, dtype)
    if chance(0.08 if options["exact_dtype"] else 0.5):
        res = res.to(random.choice(FLOATS * 3 + COMPLEX + WHOLE + [torch.bool]))
    if chance(0.06):
        res = other_shape(res)
    if chance(0.04):
        ref = ref.to_sparse() if ref.dim() else ref
        if isinstance(reference, torch.Tensor) and reference.dim() and chance(0.5):
            reference = reference.to_sparse()
    if chance(0.04) or ref.is_sparse and chance(0.9):
        res = res.to_sparse() if res.dim() else res
    if chance(0.05):
        ref.requires_grad_(ref.dtype in FLOATS)
        res.requires_grad_(res.dtype in FLOATS)
    if chance(0.1) and ref.layout == torch.strided and ref.dim() == 2:
        ref = ref.detach().t().contiguous().t()
    return ref, res, reference


def plain_value():
    numbers = [0, 1, 1, 2, -1, 2**53, 2**53 + 1, True, False, 0.0, 1.0, -0.0, 1.0001, 1.01, float(2**53), 1e300, 2e300]
    numbers += [1e-320, math.nan, math.inf, -math.inf, 0.1]
    others = [None, "", "a", "b", torch.device("cpu"), torch.device("cuda:0"), 1j, complex(1, 0), complex(2, math.nan)]
    tensors = [torch.tensor(1), torch.tensor([1.0]), torch.tensor([1.0, 2.0]), torch.tensor([]), torch.tensor(True)]
    lists = [
        [],
        [1.0, 2.0],
        [1, 2],
        [[1.0], [2.0]],
        [1.0, True],
        (1.0,),
        {},
        {"a": 1},
        [[1], [1, 2]],
        [torch.tensor(1.0), 2],
    ]
    return random.choice(random.choice([numbers, numbers, numbers, others, tensors, lists]))


def plain_pair(options):
    ref = plain_value()
    res = ref if chance(0.4) else plain_value()
    reference = random.choice([None, None, None, ref, torch.tensor(1.0, dtype=torch.float64), plain_value()])
    return ref, res, reference


def spoil(container):
    """Another structure than the one expected."""
    if isinstance(container, dict):
        spoiled = dict(container)
        if chance(0.5) and spoiled:
            spoiled.pop(random.choice(list(spoiled)))
        else:
            spoiled["extra"] = 1
        return random.choice([spoiled, list(container.values())])
    return random.choice([container[:-1], [*container, 1], {0: container}, None, 1.0])


def container_pair(options, depth):
    parts = [pair(options, depth + 1) for _ in range(random.choice([0, 1, 2, 2, 3, 4]))]
    kind = random.choice(["list", "tuple", "dict", "object"] if chance(0.3) else ["list", "tuple", "dict"])
    refs, ress, references = ([part[i] for part in parts] for i in range(3))
    if kind in ("list", "tuple"):
        flip = chance(0.2)
        ref = tuple(refs) if kind == "tuple" else refs
        res = tuple(ress) if (kind == "tuple") != flip else ress
        reference = references
    else:
        keys = random.choice([["b", "a", "d", "c"], [3, 1, 2, 0], [0, 1, 2, 3], [0.5, -1.0, 2.0, 7.0]])
        if kind == "object":
            keys = ["b", "a", "d", "c"]
        ref, res, reference = (dict(zip(keys, values)) for values in (refs, ress, references))
        if chance(0.2) and kind == "dict":
            res = dict(reversed(res.items()))
    pick = random.random()
    if pick < 0.1:
        reference = None
    elif pick < 0.13:
        reference = spoil(reference)
    elif pick < 0.15:
        reference = plain_value()
    if kind == "object":
        ref, res = Foo(**ref), Foo(**res)
        reference = Foo(**reference) if isinstance(reference, dict) and chance(0.9) else None
    elif chance(0.05):
        res = spoil(res)
    return ref, res, reference


def pair(options, depth=0):
    pick = random.random()
    if pick < 0.14 and depth < 3:
        return container_pair(options, depth)
    if pick < 0.2 or (depth and pick < 0.35):
        return plain_pair(options)
    return tensor_pair(options)


def ask(ref, res, reference, options):
    try:
        return bool(same(ref, res, reference, **options)), False
    except Exception:
        return False, True


class Pools:
    """All elements of one dtype in a row."""

    def __init__(self):
        self.parts = {}
        self.sizes = {}

    def add(self, values):
        name = str(values.dtype).removeprefix("torch.")
        offset = self.sizes.get(name, 0)
        self.parts.setdefault(name, []).append(values.reshape(-1))
        self.sizes[name] = offset + values.numel()
        return name, offset

    def encode(self, value):
        if isinstance(value, torch.Tensor):
            layout = "sparse" if value.is_sparse else "strided" if value.is_contiguous() else "transposed"
            dense = value.detach().to_dense() if value.is_sparse else value.detach()
            name, offset = self.add(dense)
            return ("#tensor", name, offset, list(value.shape), layout, value.requires_grad)
        if isinstance(value, int) and abs(value) >= 2**31:
            return ("#int", str(value))
        if isinstance(value, torch.device):
            return ("#device", str(value))
        if isinstance(value, complex):
            return ("#complex", value.real, value.imag)
        if isinstance(value, Foo):
            return ("#object", "Foo", self.encode(value.__dict__))
        if isinstance(value, dict):
            return {key: self.encode(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.encode(part) for part in value)
        return value

    def tensors(self):
        return {name: torch.cat(parts) for name, parts in self.parts.items()}


def main():
    path, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    random.seed(seed)
    torch.manual_seed(seed)
    pools = Pools()
    cases = []
    for _ in range(count):
        options = draw_options()
        ref, res, reference = pair(options)
        answer, raised = ask(ref, res, reference, options)
        settings = [float(options[name]) for name in OPTION_NAMES]
        cases.append((pools.encode(ref), pools.encode(res), pools.encode(reference), settings, answer, raised))
    torch.save((pools.tensors(), cases), path)


if __name__ == "__main__":
    main()
