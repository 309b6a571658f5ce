"""Files that are no model that the program takes: each is to be refused in a sentence that says what it is."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hosts import Tower


def small() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 2), nn.ReLU()).eval()


def onnx(path: Path) -> None:
    """The first fields of a ModelProto: ir_version 8, producer_name pytorch, producer_version, a graph."""
    path.write_bytes(b"\x08\x08\x12\x07pytorch\x1a\x052.3.0:\x0e\n\x06\n\x01x\x12\x01y\x12\x04main")


def safetensors(path: Path) -> None:
    header = json.dumps({"weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))


def plain_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "not a model")


def package(path: Path) -> None:
    """Writes a package of AOTInductor, which is compiled ahead of time."""
    exported = torch.export.export(small(), (torch.randn(3, 4),))
    torch._inductor.aoti_compile_and_package(exported, package_path=str(path))


def cut_short(path: Path) -> None:
    torch.export.save(torch.export.export(Tower().eval(), (torch.randn(4, 8),)), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def other_program(path: Path) -> None:
    path.write_text("import torch\n\nmodel = torch.nn.Linear(4, 2)\nprint(model(torch.ones(4)))\n")


KINDS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a state dict": ("state_dict.pt", lambda path: torch.save(small().state_dict(), path)),
    "a pickled module": ("module.pt", lambda path: torch.save(small(), path)),
    "tensors": ("tensors.pt", lambda path: torch.save([torch.zeros(2)], path)),
    "ONNX": ("model.onnx", onnx),
    "safetensors": ("model.safetensors", safetensors),
    "a plain zip": ("notes.zip", plain_zip),
    "an AOTInductor package": ("package.pt2", package),
    "a .pt2 cut short": ("cut_short.pt2", cut_short),
    "another Python program": ("train.py", other_program),
    "an empty folder": ("empty", Path.mkdir),
}


def make(folder: Path) -> list[dict[str, Any]]:
    folder.mkdir(parents=True)
    rows = []
    for what, (name, write) in KINDS.items():
        write(folder / name)
        rows.append({"door": "refused", "model": what, "path": str(folder / name), "backend": "freeze"})
    return rows
