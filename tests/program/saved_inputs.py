#!/usr/bin/env python3
"""Saves inputs in every way people do.

    saved_inputs.py FOLDER

FOLDER/good/NAME.* is to be read as what FOLDER/plain/NAME.pt holds, which is the same in the simplest form; sparse and
quantised tensors are dense there, unsigned ones signed. FOLDER/bad/NAME.* cannot be read, for the cause in
FOLDER/bad/NAME.why.
"""

import collections
import dataclasses
import pickle
import sys
from pathlib import Path

import torch

try:
    import numpy
except ImportError:
    numpy = None

FOLDER = Path(sys.argv[1])
Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Point:
    x: torch.Tensor


class Encoding(collections.UserDict):
    """A mapping like the one that the tokenizers of transformers return."""


def good(name, value, plain=None, **how):
    torch.save(value, FOLDER / "good" / f"{name}.pt", **how)
    torch.save(value if plain is None else plain, FOLDER / "plain" / f"{name}.pt")


def bad(name, why, value=None, contents=None):
    path = FOLDER / "bad" / f"{name}.pt"
    if contents is None:
        torch.save(value, path)
    else:
        path.write_bytes(contents)
    path.with_suffix(".why").write_text(why)


def containers(x, y):
    good("tensor", x)
    good("list", [x, y])
    good("tuple", (x, y))
    good("dict", {"x": x, "y": y})
    good("ordered", collections.OrderedDict(x=x, y=y), {"x": x, "y": y})
    good("default", collections.defaultdict(list, x=x), {"x": x})
    good("args_kwargs", ((x,), {"y": y}))
    good("nested", ([x, [y, (x, y)]], {"a": {"b": (x,)}, "c": {1: y, 2: x}}))
    good("scalars", (1, -1, 2**30, 1.5, float("inf"), True, False, None, "text", "h\u00e9", ""))
    good("size", (x.shape, torch.Size([])), ((2, 3), ()))
    good("many", [torch.full((1,), float(i)) for i in range(300)])
    good("protocol_4", {"x": x, "y": [y, "z"]}, pickle_protocol=4)
    good("protocol_5", {"x": x, "y": [y, "z"]}, pickle_protocol=5)


def tensors(x, y):
    for dtype in (torch.half, torch.bfloat16, torch.complex64, torch.int64, torch.bool, torch.uint16, torch.float64):
        value = (x.to(dtype), torch.zeros([], dtype=dtype), torch.zeros([0, 3], dtype=dtype))
        # LibTorch's own reader, which reads the plain ones, does not know uint16.
        plain = tuple(part.to(torch.int32) for part in value) if dtype == torch.uint16 else None
        good(f"dtype_{str(dtype)[6:]}", value, plain)
    good("parameter", torch.nn.Parameter(x), x.clone().requires_grad_())
    good("requires_grad", (x.clone().requires_grad_(), y))
    good("views", (x.t(), x[:, 1:], x[1], x.expand(4, 2, 3)))
    z = x.to(torch.complex64) * (1 + 2j)
    good("conjugate", z.conj(), z.conj().resolve_conj())
    coo = torch.eye(3).to_sparse()
    compressed = (torch.eye(3).to_sparse_csr(), torch.eye(4).to_sparse_bsr((2, 2)))
    good("sparse", (coo, *compressed), (coo.to_dense(), torch.eye(3), torch.eye(4)))
    quantised = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
    by_channel = torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint8)
    good("quantised", (quantised, by_channel), (quantised.dequantize(), by_channel.dequantize()))


def legacy(x, y):
    how = {"_use_new_zipfile_serialization": False}
    good("legacy_tensor", x, **how)
    good("legacy_shared", (x, x.t(), x[1:], y, "text", y.to(torch.int64)), **how)
    plain = {"x": x, "y": y.clone().requires_grad_()}
    good("legacy_dict", collections.OrderedDict(x=x, y=torch.nn.Parameter(y)), plain, **how)
    good("legacy_empty", (torch.zeros(0), torch.zeros(2, 0, dtype=torch.half)), **how)


def arrays(x):
    a = x.numpy()
    arrays, tensors = (a, a.T, a.astype(">f8"), a.astype("i2"), a > 1), (x, x.t(), x.double(), x.short(), x > 1)
    numbers = (numpy.float32(1.5), numpy.int64(3), numpy.bool_(True))
    good("numpy", (*arrays, *numbers), (*tensors, 1.5, 3, True))
    fortran, empty = numpy.asfortranarray(a), numpy.zeros((0, 2))
    good("numpy_5", [a, fortran, empty], [x, x, torch.zeros(0, 2).double()], pickle_protocol=5)
    good("numpy_legacy", {"x": a}, {"x": x}, _use_new_zipfile_serialization=False)
    files = {"c": (a, x), "fortran": (fortran, x), "big": (a.astype(">i4"), x.int())}
    files["scalar"] = (numpy.float64(2), torch.tensor(2.0).double())
    for name, (array, tensor) in files.items():
        numpy.save(FOLDER / "good" / f"npy_{name}.npy", array)
        torch.save(tensor, FOLDER / "plain" / f"npy_{name}.pt")
    (FOLDER / "good" / "pickled.pkl").write_bytes(pickle.dumps({"x": a, "n": 3}))
    torch.save({"x": x, "n": 3}, FOLDER / "plain" / "pickled.pt")
    bad("numpy_objects", "of dtype 'O8'", numpy.array([None, "x"]))
    numpy.savez(FOLDER / "bad" / "npz.npz", a=a)
    (FOLDER / "bad" / "npz.why").write_text("is a .npz file")


def refused(x):
    bad("namedtuple", "an object of the class '__main__.Pair', which only Python can make", Pair(x, x))
    bad("dataclass", "an object of the class '__main__.Point', which only Python can make", Point(x))
    bad("encoding", "an object of the class '__main__.Encoding', which only Python can make", Encoding(x=x))
    bad("module", "an object of the class 'torch.nn.modules", torch.nn.Linear(2, 2))
    bad("function", "print', which only Python can make", print)
    bad("meta", "meta device", torch.zeros(2, device="meta"))
    bad("set", "a set", {1, 2})
    bad("long", "more than 64 bits", (2**70, x))
    bad("keys", "keys are of several types", {"x": x, 1: x})
    bad("storage", "save the tensor", x.untyped_storage())
    bad("pickled_tensor", "that pickle.dump wrote", contents=pickle.dumps(x))
    loop = [x]
    loop.append(loop)
    bad("loop", "in itself", loop)
    twice = [x]
    for _ in range(40):
        twice = [twice, twice]
    bad("twice", "too many values", twice)
    bad("text", "is no file of torch.save", contents=b"hello")
    bad("safetensors", "is a safetensors file", contents=(2).to_bytes(8, "little") + b'{"' + b"x" * 9)
    whole = (FOLDER / "good" / "tuple.pt").read_bytes()
    bad("cut_short", "cut short or damaged", contents=whole[: len(whole) // 2])
    whole = (FOLDER / "good" / "legacy_tensor.pt").read_bytes()
    bad("legacy_cut_short", "ends too early", contents=whole[:-3])
    torch.jit.save(torch.jit.trace(torch.nn.ReLU(), x), FOLDER / "bad" / "model.pt")
    (FOLDER / "bad" / "model.why").write_text("is a TorchScript archive")


def main():
    for part in ("good", "plain", "bad"):
        (FOLDER / part).mkdir(parents=True)
    x, y = torch.arange(6.0).reshape(2, 3), torch.linspace(-1, 1, 3)
    containers(x, y)
    tensors(x, y)
    legacy(x, y)
    refused(x)
    if numpy:
        arrays(x)


main()
