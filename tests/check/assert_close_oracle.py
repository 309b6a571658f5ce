"""Draws random pairs of results, asks torch.testing.assert_close about each, and whether they are equal bit for bit.

    python assert_close_oracle.py FILE COUNT SEED

FILE holds (pools, cases), as same_oracle.py writes them, with one marker more:
    ("#layout", name, parts, shape)
A case is (expected, actual, tolerance or -1, equal_nan, answer, raised, equal bit for bit).
"""

import math
import random
import sys
import warnings

try:
    import torch
except ImportError as error:
    print(error)
    sys.exit(77)  # the test is skipped

from same_oracle import (
    COMPLEX,
    FLOATS,
    SHAPES,
    WHOLE,
    Pools,
    chance,
    near,
    other_shape,
    some_indices,
    specials_for,
    sprinkle,
)

UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
SMALL = [torch.float8_e4m3fn, torch.float8_e5m2]
PRECISION = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


def off_by_the_tolerance(values, tolerance):
    """Just within, just beyond, or at what is allowed, in one element or in all."""
    rtol, atol = (tolerance, tolerance) if tolerance >= 0 else PRECISION.get(values.dtype, (0, 0))
    wide = values.to(torch.complex128 if values.is_complex() else torch.float64)
    step = near(1.0) * (atol + rtol * wide.abs()) * random.choice([-1, 1])
    if chance(0.5) and values.numel():
        mask = torch.zeros(values.numel(), dtype=torch.bool)
        mask[random.randrange(values.numel())] = True
        step = torch.where(mask.reshape(values.shape), step, torch.zeros_like(step))
    return (wide + step).to(values.dtype)


def float_pair(dtype, tolerance):
    wide = torch.complex128 if dtype in COMPLEX else torch.float64
    scale = random.choice([1, 1, 1e-3, 100, 1e-40, 3e4])
    expected = (torch.randn(random.choice(SHAPES), dtype=wide) * scale).to(dtype)
    actual = expected.clone() if chance(0.25) else off_by_the_tolerance(expected, tolerance)
    if chance(0.3):
        where = some_indices(expected.numel())
        specials = [random.choice(specials_for(dtype))]
        sides = random.choice(["expected", "actual", "both", "both"])
        if sides != "actual":
            expected = sprinkle(expected.clone(), specials, where)
        if sides != "expected":
            actual = sprinkle(actual.clone(), specials, where)
    return expected, actual


def whole_pair(dtype):
    shape = random.choice(SHAPES)
    expected = (torch.rand(shape) < 0.5) if dtype == torch.bool else torch.randint(0, 100, shape).to(dtype)
    actual = expected.clone()
    if chance(0.6):
        changed = actual.reshape(-1).to(torch.int64)
        for index in some_indices(actual.numel()):
            changed[index] = 1 - changed[index] if dtype == torch.bool else changed[index] + 1
        actual = changed.to(dtype).reshape(shape)
    return expected, actual


def small_pair(dtype):
    expected = torch.randn(random.choice(SHAPES)).to(dtype)
    actual = expected.clone()
    if chance(0.5) and actual.numel():
        actual.view(torch.uint8).view(-1)[random.randrange(actual.numel())] += 1
    return expected, actual


def sparse_pair(tolerance):
    layout = random.choice(["coo", "coo", "csr", "csc", "bsr"])
    dense = torch.randn(4, 6) * (torch.rand(4, 6) < 0.4)
    kept = dense != 0
    values = torch.where(kept, off_by_the_tolerance(dense, tolerance), 0.0)
    if chance(0.2):
        values[random.randrange(4), random.randrange(6)] = random.choice([0.0, 5.0, math.nan])
    pair = []
    for part in (dense, values):
        if layout == "coo":
            sparse = part.to_sparse()
            if chance(0.3):  # uncoalesced: one place twice
                indices = torch.cat([sparse._indices(), sparse._indices()[:, :1]], 1)
                sparse = torch.sparse_coo_tensor(indices, torch.cat([sparse._values(), sparse._values()[:1]]), (4, 6))
            pair.append(sparse)
        else:
            pair.append(part.to_sparse_bsr((2, 2)) if layout == "bsr" else getattr(part, f"to_sparse_{layout}")())
    return pair


def quantised_pair(tolerance):
    dtype = random.choice([torch.quint8, torch.qint8, torch.qint32])
    values = torch.randn(3, 4)
    pair = []
    for part in (values, off_by_the_tolerance(values, tolerance) if chance(0.5) else values + random.choice([0, 0.1])):
        scale = 0.1 * random.choice([1, 1, 1, 1 + 1e-7, 1.01])
        if chance(0.3):
            pair.append(
                torch.quantize_per_channel(part, torch.full((3,), scale), torch.zeros(3, dtype=torch.int64), 0, dtype)
            )
        else:
            pair.append(torch.quantize_per_tensor(part, scale, random.choice([0, 0, 1]), dtype))
    return pair


def tensor_pair(tolerance):
    if chance(0.06):
        return sparse_pair(tolerance)
    if chance(0.06):
        return quantised_pair(tolerance)
    dtype = random.choice(FLOATS * 5 + COMPLEX * 3 + WHOLE + UNSIGNED + SMALL + [torch.bool] * 2)
    if dtype in FLOATS + COMPLEX:
        expected, actual = float_pair(dtype, tolerance)
    elif dtype in SMALL:
        expected, actual = small_pair(dtype)
    else:
        expected, actual = whole_pair(dtype)
    if chance(0.05):
        actual = actual.to(random.choice(FLOATS + COMPLEX + WHOLE))
    if chance(0.05):
        actual = other_shape(actual)
    if chance(0.03) and expected.dtype in FLOATS and expected.dim() == 2:
        actual = actual.to_sparse()
    if chance(0.1) and expected.layout == torch.strided and expected.dim() == 2 and expected.dtype in FLOATS:
        expected = expected.t().contiguous().t()
    return expected, actual


def plain_pair(tolerance):
    numbers = [0, 1, 2, 1000, 1001, True, False, 0.0, 1.0, -0.0, 1 + 1e-8, 1.01, 1e300, math.nan, math.inf, -math.inf]
    others = [None, 1j, complex(1, 1e-8), complex(1, 0), complex(math.nan, 1), torch.tensor(1.0), [1.0, 2.0], {}, []]
    expected = random.choice(numbers + others)
    return expected, expected if chance(0.4) else random.choice(numbers + others)


def container_pair(tolerance, depth):
    parts = [pair(tolerance, depth + 1) for _ in range(random.choice([0, 1, 2, 3]))]
    expected, actual = [part[0] for part in parts], [part[1] for part in parts]
    if chance(0.3):
        keys = ["b", "a", "c"]
        expected, actual = dict(zip(keys, expected)), dict(zip(keys, actual))
        if chance(0.1):
            actual["extra"] = 1
    elif chance(0.2):
        expected = tuple(expected)
    elif chance(0.1):
        actual = actual[:-1]
    return expected, actual


def pair(tolerance, depth=0):
    if chance(0.1) and depth < 3:
        return container_pair(tolerance, depth)
    if chance(0.08):
        return plain_pair(tolerance)
    return tensor_pair(tolerance)


def equal_bits(expected, actual):
    if isinstance(expected, dict) or isinstance(expected, (list, tuple)):
        if isinstance(expected, dict) != isinstance(actual, dict) or not isinstance(actual, (dict, list, tuple)):
            return False
        if isinstance(expected, dict):
            return expected.keys() == actual.keys() and all(equal_bits(expected[key], actual[key]) for key in expected)
        return len(expected) == len(actual) and all(map(equal_bits, expected, actual))
    if isinstance(expected, torch.Tensor) and isinstance(actual, torch.Tensor):
        return equal_tensors(expected, actual) and equal_strides(expected, actual)
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, (float, complex)):
        dtype = torch.float64 if isinstance(expected, float) else torch.complex128
        return equal_tensors(torch.tensor(expected, dtype=dtype), torch.tensor(actual, dtype=dtype))
    return expected == actual


def equal_tensors(expected, actual):
    if expected.shape != actual.shape or expected.dtype != actual.dtype or expected.layout != actual.layout:
        return False
    if expected.is_quantized:
        return expected.qscheme() == actual.qscheme() and equal_tensors(expected.dequantize(), actual.dequantize())
    if expected.layout == torch.sparse_coo:
        return torch.equal(expected._indices(), actual._indices()) and equal_tensors(
            expected._values(), actual._values()
        )
    if expected.layout != torch.strided:
        parts = [("crow_indices", "col_indices"), ("ccol_indices", "row_indices")][expected.layout == torch.sparse_csc]
        same = all(torch.equal(getattr(expected, part)(), getattr(actual, part)()) for part in parts)
        return same and equal_tensors(expected.values(), actual.values())
    if expected.is_complex():
        expected, actual = torch.view_as_real(expected), torch.view_as_real(actual)
    if expected.numel() == 0:
        return True
    if not expected.is_floating_point():
        return expected.tolist() == actual.tolist()
    whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[expected.element_size()]
    both_nan = expected.double().isnan() & actual.double().isnan()
    return bool(((expected.view(whole) == actual.view(whole)) | both_nan).all())


def equal_strides(expected, actual):
    """True if tensors that are equal otherwise have equal strides. That of a dimension of size 1 has no effect."""
    if expected.layout != torch.strided or expected.numel() == 0:
        return True
    return all(size < 2 or e == a for size, e, a in zip(expected.shape, expected.stride(), actual.stride()))


def ask(expected, actual, tolerance, equal_nan):
    tolerances = {"rtol": tolerance, "atol": tolerance} if tolerance >= 0 else {}
    try:
        torch.testing.assert_close(actual, expected, equal_nan=equal_nan, **tolerances)
        return True, False
    except AssertionError as error:
        return False, "not supported for bitwise comparison" in str(error)  # a tolerance for float8
    except Exception:  # it has no answer: other types, no kernel
        return False, True


class MorePools(Pools):
    def encode(self, value):
        if isinstance(value, torch.Tensor) and value.is_quantized:
            channels = value.qscheme() == torch.per_channel_affine
            scale = value.q_per_channel_scales() if channels else torch.tensor(value.q_scale(), dtype=torch.float64)
            zero = value.q_per_channel_zero_points() if channels else torch.tensor(value.q_zero_point())
            parts = [value.dequantize(), scale, zero]
            return self.layout(str(value.dtype).removeprefix("torch."), parts, value.shape)
        if isinstance(value, torch.Tensor) and value.dtype in UNSIGNED + SMALL:  # C++ cannot unpickle them
            plain = value.to(torch.int64) if value.dtype in UNSIGNED else value.view(torch.uint8)
            return self.layout(str(value.dtype).removeprefix("torch."), [plain], value.shape)
        if isinstance(value, torch.Tensor) and value.layout == torch.sparse_coo:
            return self.layout("coo", [value._indices(), value._values()], value.shape)
        if isinstance(value, torch.Tensor) and value.layout != torch.strided:
            name = str(value.layout).removeprefix("torch.sparse_")
            rows = (
                (value.ccol_indices(), value.row_indices())
                if name == "csc"
                else (value.crow_indices(), value.col_indices())
            )
            return self.layout(name, [*rows, value.values()], value.shape)
        return super().encode(value)

    def layout(self, name, parts, shape):
        return ("#layout", name, [super(MorePools, self).encode(part) for part in parts], list(shape))


def main():
    path, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    random.seed(seed)
    torch.manual_seed(seed)
    pools = MorePools()
    cases = []
    for _ in range(count):
        tolerance = random.choice([-1.0, -1.0, -1.0, 1e-3, 1e-2])
        equal_nan = chance(0.4)
        expected, actual = pair(tolerance)
        answer, raised = ask(expected, actual, tolerance, equal_nan)
        exact = equal_bits(expected, actual)
        cases.append((pools.encode(expected), pools.encode(actual), tolerance, equal_nan, answer, raised, exact))
    torch.save((pools.tensors(), cases), path)


if __name__ == "__main__":
    main()
