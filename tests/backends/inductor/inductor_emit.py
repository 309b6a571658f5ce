"""repro.py as text, for a device that this machine need not have.

inductor_emit.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import sys
import unittest
from typing import Any

sys.path.insert(0, sys.argv.pop(1))

import torch

import emit
from emit_fx import FxRepro, TypedRepro


class Add(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]), requires_grad=False)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        h = (x * self.weight + y.half().float())[:, None]
        h.add_(1)
        return [h.sum([1], dtype=torch.float64), torch.max(y, 0)[1]]


POOL = """
def forward(self, tanh_3, weight):
    y = torch.ops.fx.tensor('{"f":"torch.nn.functional.avg_pool1d","a":[{"%":0},{"%":1}]}', tanh_3, 2)
    return torch.ops.fx.tensor('{"f":"operator.add","a":[{"%":0},{"%":1}]}', y, weight)
"""
SCRIPT = torch.jit.ScriptModule()
SCRIPT.define(POOL)


def facts_of(**more: Any) -> dict[str, Any]:
    facts = {
        "headline": "Wrong result.", "found": "found", "minimised": "minimised", "kind": "accuracy", "marker": "MARK",
        "where": "output", "perturb": None, "calls": 1, "seed": 0, "threads": 1, "grad": False, "autocast": False,
        "autocast_dtype": "bfloat16", "device": "cpu", "deterministic": "off",
        "differs": {"form": "close", "rtol": 1e-3, "atol": 1e-3, "limit": 0, "equal_nan": True, "as_it_is": True,
                    "relative_to_expected": True, "floating_only": False, "why": "", "strides": False},
    }  # fmt: skip
    return facts | more


def text_of(**more: Any) -> str:
    script = torch.jit.script(Add().eval())
    return str(emit.Repro(script, [("x", "input", "", torch.ones(2))], facts_of(**more)).text())


def text_of_calls(**more: Any) -> str:
    inputs = [("tanh_3", "input", "ones", torch.ones(1, 4)), ("weight", "input", "", torch.ones(2))]
    return str(FxRepro(SCRIPT, inputs, facts_of(**more)).text())


class Operators(unittest.TestCase):
    def test_of_torchscript_are_typed_as_a_person_types_them(self) -> None:
        x, y = torch.ones(2, 2), torch.tensor([[0.5, 2.0], [1.0, 1.0]])
        script = torch.jit.freeze(torch.jit.script(Layer().eval()), ["weight"])
        inputs = [("x", "input", "", x), ("y", "input", "", y), ("weight", "parameter", "", torch.tensor([1.0, 2.0]))]
        text = str(TypedRepro(script, inputs, facts_of()).text())
        self.assertIn("\nweight = torch.tensor([1.0, 2.0])\n", text)
        self.assertIn("\ndef f(x, y):\n", text)
        for word in ("torch.ops", "annotate", "dtype=7"):
            self.assertNotIn(word, text)
        space: dict[str, Any] = {"__name__": "repro"}
        exec(compile(text, "repro.py", "exec"), space)
        for found, expected in zip(space["f"](x, y), script(x, y), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)


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


class Calls(unittest.TestCase):
    def test_are_a_function_that_a_person_types(self) -> None:
        text = text_of_calls()
        self.assertIn("def f(x, weight):\n    return F.avg_pool1d(x, 2) + weight\n", text)
        self.assertIn("\nimport torch\nimport torch.nn.functional as F\n", text)
        self.assertIn("    x = torch.ones(1, 4)\n", text)

    def test_run_as_they_are_written(self) -> None:
        for grad in (False, True):
            space: dict[str, Any] = {"__name__": "repro"}
            exec(compile(text_of_calls(grad=grad, where="state"), "repro.py", "exec"), space)
            results = space["run"](space["f"], space["f"])
            self.assertEqual(results[0].tolist(), [[2.0, 2.0]])


if __name__ == "__main__":
    unittest.main()
