#!/usr/bin/env python3
"""Twelve failures of torch.compile as PyTorch writes them, each by a process of its own with TORCHDYNAMO_REPRO_AFTER.

`leftovers.py NAME` is that process: it compiles a model, which fails. Level 3 stands where level 4 leaves nothing:
where the process crashes, and after dynamo, where the comparison of 2.13.0 itself raises ("not enough values to
unpack").
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

import hearts
from hosts import Beside, Images, Tower


class Leftover(NamedTuple):
    name: str
    after: str  # dynamo, aot
    level: int  # 1, 2: where compiling raises, 3: always, 4: where results differ
    model: str
    injected: str = ""  # compile_error, runtime_error, accuracy: of every relu
    file: str = "minifier_launcher.py"


ALL = (
    Leftover("aot_tower_compile_error", "aot", 2, "tower", "compile_error"),
    Leftover("aot_images_compile_error_checkpoint", "aot", 1, "images", "compile_error", "checkpoints/*.py"),
    Leftover("aot_images_runtime_error", "aot", 3, "images", "runtime_error"),
    Leftover("aot_images_accuracy", "aot", 4, "images", "accuracy"),
    Leftover("dynamo_tower_compile_error", "dynamo", 2, "tower", "compile_error"),
    Leftover("dynamo_images_accuracy", "dynamo", 3, "images", "accuracy"),
    Leftover("aot_floor_divide", "aot", 4, "tenths"),
    Leftover("aot_erf_checkpoint", "aot", 4, "erf", "", "checkpoints/*.py"),
    Leftover("aot_least_byte", "aot", 4, "least_byte"),
    Leftover("dynamo_remainder", "dynamo", 3, "remainder"),
    Leftover("dynamo_round", "dynamo", 3, "rounded"),
    Leftover("dynamo_all", "dynamo", 2, "all_of_none"),
)

GIVEN = {
    "rounded": hearts.THOUSANDS,
    "least_byte": torch.rand(4, 32),
    "remainder": hearts.USUAL,
    "tenths": hearts.ONES,
    "erf": hearts.SMALL,
    "all_of_none": hearts.SIGNS,
}


def model_of(name: str) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    torch.manual_seed(0)
    if name == "tower":
        return Tower().eval(), (torch.randn(4, 8),)
    if name == "images":
        return Images().eval(), (torch.randn(2, 3, 16, 16),)
    return Beside(getattr(hearts, name)).eval(), (torch.randn(4, 8), GIVEN[name])


def fail(name: str) -> None:
    import torch._inductor.config as inductor_config

    one = next(one for one in ALL if one.name == name)
    inductor_config.fx_graph_cache = False
    if one.injected:
        inductor_config.cpp.inject_relu_bug_TESTING_ONLY = one.injected
    model, inputs = model_of(one.model)
    with torch.no_grad():
        torch.compile(model)(*inputs)


def written(one: Leftover, folder: Path) -> Path:
    """Where the file is that PyTorch wrote; where it wrote none, its last words are kept in said.txt."""
    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        "TORCHDYNAMO_REPRO_AFTER": one.after,
        "TORCHDYNAMO_REPRO_LEVEL": str(one.level),
        "TORCH_COMPILE_DEBUG_DIR": str(folder),
    }
    finished = subprocess.run(
        [sys.executable, __file__, one.name], env=environment, cwd=folder, capture_output=True, text=True
    )
    (folder / "said.txt").write_text(finished.stderr)
    found = sorted(folder.glob(f"torch_compile_debug/run_*/minifier/{one.file}"), key=lambda path: len(path.stem))
    return found[0] if found else folder / "nothing was written"


def make(folder: Path) -> list[dict[str, Any]]:
    rows = []
    for one in ALL:
        path = written(one, folder / one.name)
        print(f"{one.name}: {path}", flush=True)
        door = f"torch.compile, after {one.after}"
        rows.append({"door": door, "model": one.name, "path": str(path), "backend": "inductor"})
    return rows


if __name__ == "__main__":
    fail(sys.argv[1])
