"""repro.py as text, for a device that this machine need not have.

inductor_emit.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import sys
import unittest
from typing import Any

sys.path.insert(0, sys.argv.pop(1))

import torch

import emit


class Add(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


def text_of(**more: Any) -> str:
    facts = {
        "headline": "Wrong result.", "found": "found", "minimised": "minimised", "kind": "accuracy", "marker": "MARK",
        "where": "output", "perturb": None, "calls": 1, "seed": 0, "threads": 1, "grad": False, "autocast": False,
        "autocast_dtype": "bfloat16", "device": "cpu", "deterministic": "off",
        "differs": {"form": "close", "rtol": 1e-3, "atol": 1e-3, "limit": 0, "equal_nan": True, "as_it_is": True,
                    "relative_to_expected": True, "floating_only": False, "why": "", "strides": False},
    }  # fmt: skip
    return str(emit.Repro(torch.jit.script(Add().eval()), [("x", "input", "", torch.ones(2))], facts | more).text())


class Determinism(unittest.TestCase):
    def test_cublas_is_told_where_algorithms_are_deterministic_on_cuda(self) -> None:
        for deterministic in ("on", "warn"):
            text = text_of(device="cuda", deterministic=deterministic)
            self.assertIn("use_deterministic_algorithms(True", text)
            self.assertIn('os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")', text)
            self.assertIn("\nimport os\n", text)

    def test_nothing_is_said_of_cublas_elsewhere(self) -> None:
        for settings in ({"deterministic": "on"}, {"device": "cuda"}):
            self.assertNotIn("CUBLAS", text_of(**settings))


if __name__ == "__main__":
    unittest.main()
