"""Messages between repro-minify and its Python worker: a JSON header and the bytes of tensor storages behind it.

A frame is the length of the header (8 bytes, little endian), the header, and the blobs whose sizes it lists. Values
keep what matters to a failing program: dtype, sizes, strides, offset, requires_grad, and which tensors share storage.
"""

import ctypes
import json
import struct

import torch

from words import NUMBERS


MOST_HEADER_BYTES = 1 << 28
MOST_BLOB_BYTES = 1 << 40


class Closed(Exception):
    """The other side has gone."""


class Garbled(Exception):
    """Raised where the bytes that came are no message."""


class CannotSend(Exception):
    """A value that has no words here."""


def receive_into(connection, buffer):
    view = memoryview(buffer).cast("B")
    while view:
        count = connection.recv_into(view, min(len(view), 1 << 20))
        if count == 0:
            raise Closed
        view = view[count:]


def receive(connection):
    """(header, blobs); a blob is a uint8 tensor."""
    size = bytearray(8)
    receive_into(connection, size)
    length = struct.unpack("<Q", size)[0]
    if length > MOST_HEADER_BYTES:
        raise Garbled(f"a header of {length} bytes")
    text = bytearray(length)
    receive_into(connection, text)
    try:
        header = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise Garbled(f"a header that is no JSON ({error})") from None
    lengths = header.get("blobs") if isinstance(header, dict) else None
    if not isinstance(lengths, list):
        raise Garbled("a header that names no blobs")
    blobs = []
    for length in lengths:
        if type(length) is not int or not 0 <= length <= MOST_BLOB_BYTES:
            raise Garbled(f"a blob of {length} bytes")
        blob = torch.empty(length, dtype=torch.uint8)  # as aligned as any tensor is
        if length:
            receive_into(connection, memory_of(blob))
        blobs.append(blob)
    return header, blobs


def send(connection, header, blobs=()):
    text = json.dumps({**header, "blobs": [blob.numel() for blob in blobs]}).encode()
    connection.sendall(struct.pack("<Q", len(text)) + text)
    for blob in blobs:
        if blob.numel():
            connection.sendall(memory_of(blob))


def memory_of(blob):
    """A contiguous uint8 tensor on the CPU as a buffer."""
    return (ctypes.c_char * blob.numel()).from_address(blob.data_ptr())


def bytes_of(storage):
    """The bytes of a storage as a uint8 tensor on the CPU that shares them where it can."""
    flat = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    return flat.cpu()


class Reader:
    """Makes values again. Tensors of one storage share one afterwards."""

    def __init__(self, blobs):
        self.blobs = blobs
        self.storages = {}

    def value(self, data):
        ((kind, content),) = data.items()
        if kind == "tensor":
            return self.tensor(content)
        if kind in ("list", "tuple"):
            parts = [self.value(part) for part in content]
            return parts if kind == "list" else tuple(parts)
        if kind == "dict":
            return {self.value(key): self.value(part) for key, part in content}
        if kind == "float":
            return float(content)
        if kind == "complex":
            return complex(float(content[0]), float(content[1]))
        if kind == "device":
            return torch.device(content)
        return content  # bool, int, str, none

    def tensor(self, data):
        place = data["storage"]
        if place not in self.storages:
            self.storages[place] = self.blobs[place].to(data["device"]).untyped_storage()
        storage = self.storages[place]
        tensor = torch.empty(0, dtype=getattr(torch, data["dtype"]), device=storage.device)
        tensor.set_(storage, data["offset"], data["sizes"], data["strides"])
        return tensor.requires_grad_(data["grad"])


class Writer:
    """Puts values into words; `blobs` are the storages they need, numbered from `first` on. `known` are storages that
    the other side has, by their numbers."""

    def __init__(self, known=None, first=0):
        self.blobs = []
        self.first = first
        self.places = {storage.data_ptr(): place for place, storage in (known or {}).items()}

    def value(self, value):
        if isinstance(value, torch.Tensor):
            return {"tensor": self.tensor(value)}
        if isinstance(value, bool):
            return {"bool": value}
        if isinstance(value, int):
            return {"int": value}
        if isinstance(value, float):
            return {"float": repr(value)}
        if isinstance(value, complex):
            return {"complex": [repr(value.real), repr(value.imag)]}
        if isinstance(value, str):
            return {"str": value}
        if value is None:
            return {"none": None}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            if value not in NUMBERS:
                raise CannotSend(f"a result that is {value}")
            return {"int": NUMBERS[value]}
        if isinstance(value, list):
            return {"list": [self.value(part) for part in value]}
        if isinstance(value, (tuple, torch.Size)):
            return {"tuple": [self.value(part) for part in value]}
        if isinstance(value, dict):
            return {"dict": [[self.value(key), self.value(part)] for key, part in value.items()]}
        raise CannotSend(f"a result of type {type(value).__name__}")

    def tensor(self, tensor):
        grad = tensor.requires_grad
        tensor = tensor.detach().resolve_conj().resolve_neg()
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_meta:
            raise CannotSend(f"a result of {tensor.dtype}, {tensor.layout} on {tensor.device}")
        storage = tensor.untyped_storage()
        place = storage.data_ptr()
        if place not in self.places or not place:  # those that are empty have no address
            self.places[place] = self.first + len(self.blobs)
            self.blobs.append(bytes_of(storage))
        return {
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "sizes": list(tensor.shape),
            "strides": list(tensor.stride()),
            "offset": tensor.storage_offset(),
            "storage": self.places[place],
            "device": str(tensor.device),
            "grad": grad,
        }
