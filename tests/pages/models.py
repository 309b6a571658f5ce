"""models.py FOLDER: writes failing.pt and inputs.pt into FOLDER/large and FOLDER/hostile.

A model of many graph nodes, and one that brings markup with it; both fail under freeze, which folds a batch norm over
the wrong axis. Run by a Python that has torch.
"""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import torch

CASES = Path(__file__).resolve().parents[2] / "fixtures" / "cases"
STEPS = 80  # before and after the transformer: nine hundred nodes or so
# Text that a model can bring into a page: the line and the name of its author's file, and the names of its attributes.
HOSTILE = "</script><script>document.title='owned'</script><img src=http://127.0.0.1:9/x onerror=alert(1)>\u202e\u05d0"
HOSTILE_FILE = "<script>document.title='owned'<img src=x onerror=alert(1)>\"'.py"
HOSTILE_SOURCE = """
import torch

class Hostile(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Parameter(torch.randn(4, 5))
        self.register_buffer("mean", torch.rand(4) + 0.5)
        self.register_buffer("script_img_src", torch.rand(4) + 0.5)

    def forward(self, x):
        y = torch.nn.functional.linear(x, self.layer)  # HERE
        return torch.nn.functional.batch_norm(y, self.mean, self.script_img_src)  # HERE
"""


class Large(torch.nn.Module):
    """Element-wise operators before and after the transformer."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.inner = torch.jit.load(str(CASES / "big_freeze_linear_bn_3d" / "failing.pt"))
        self.steps = steps

    def forward(self, x: Any) -> Any:
        for _ in range(self.steps):
            x = torch.tanh(x * 1.01) + x * 0.1
        y = self.inner(x)
        for _ in range(self.steps):
            y = torch.relu(y * 1.01) + y * 0.5
        return y


def hostile_module(folder: Path) -> Any:
    file = folder / HOSTILE_FILE
    file.write_text(HOSTILE_SOURCE.replace("HERE", HOSTILE), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("hostile", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["hostile"] = module
    spec.loader.exec_module(module)
    return torch.jit.script(module.Hostile().eval())


def save(module: Any, x: torch.Tensor, folder: Path) -> None:
    module.save(str(folder / "failing.pt"))
    torch.save((x,), folder / "inputs.pt")


def main() -> None:
    large, hostile = (Path(sys.argv[1]) / name for name in ("large", "hostile"))
    for folder in (large, hostile):
        folder.mkdir()
    torch.manual_seed(0)
    x = torch.randn(2, 32, 12) * 0.5
    save(torch.jit.trace(Large(STEPS).eval(), x, check_trace=False), x, large)
    save(hostile_module(hostile), torch.randn(2, 4, 5), hostile)


if __name__ == "__main__":
    main()
