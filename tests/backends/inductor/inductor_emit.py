"""The program of repro.py as text.

inductor_emit.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import itertools
import json
import sys
import tempfile
import unittest
import zipfile
from typing import Any
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))

import torch

import ahead_of_time
import emit
import emit_recipe
import entries
from emit_fx import FxRepro, TypedLiterals, TypedRepro, programs, typed_names


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


class Views(unittest.TestCase):
    def test_of_a_tensor_that_was_written_before_are_taken_out_of_it(self) -> None:
        """A detached view would be another failure where it is written to under torch.compile."""
        whole = torch.arange(6.0).reshape(3, 2)
        views = {"x[1:]": whole[1:], "x[:2]": whole[:2], "x[1]": whole[1], "x[:]": whole,
                 "x.as_strided([2, 3], [1, 2], 0)": whole.t()}  # fmt: skip
        for kind, (text, view) in itertools.product((emit.Literals, TypedLiterals), views.items()):
            with self.subTest(text, kind=kind):
                literals = kind(False)
                made = eval(literals.expression("x", {"kind": "arange"}, whole))
                self.assertEqual(literals.expression("y", None, view), text)
                self.assertTrue(torch.equal(eval(text, {"x": made}), view))

    def test_of_a_narrower_view_are_taken_by_their_strides(self) -> None:
        whole, literals = torch.arange(6.0), emit.Literals(False)
        literals.expression("x", None, whole[1:3])
        self.assertEqual(literals.expression("y", None, whole), "x.as_strided([6], [1], 0)")


FACTS = {"kind": "accuracy", "grad": False, "device": "cpu", "differs": {}}


def run(parts: dict[str, Any]) -> dict[str, Any]:
    """The globals of a script that has these parts."""
    space: dict[str, Any] = {"__name__": "repro"}
    inputs = [f"{name} = {tensor}" for name, tensor in parts["inputs"]]
    exec(compile("\n".join([*parts["imports"], parts["definition"], *inputs]), "repro.py", "exec"), space)
    return space


def parts_of_calls(**more: Any) -> dict[str, Any]:
    inputs = [("tanh_3", "input", {"kind": "ones"}, torch.ones(1, 4)), ("weight", "input", None, torch.ones(2))]
    parts: dict[str, Any] = FxRepro(SCRIPT, inputs, FACTS | more).parts()
    return parts


class Operators(unittest.TestCase):
    def test_of_torchscript_are_typed_as_a_person_types_them(self) -> None:
        x, y = torch.ones(2, 2), torch.tensor([[0.5, 2.0], [1.0, 1.0]])
        script = torch.jit.freeze(torch.jit.script(Layer().eval()), ["weight"])
        inputs = [
            ("x", "input", None, x),
            ("y", "input", None, y),
            ("weight", "parameter", None, torch.tensor([1.0, 2.0])),
        ]
        parts = TypedRepro(script, inputs, FACTS).parts()
        text = parts["definition"]
        self.assertIn("weight = torch.tensor([1.0, 2.0])\n", text)
        self.assertIn("\ndef f(x, y):\n", text)
        for word in ("torch.ops", "annotate", "dtype=7"):
            self.assertNotIn(word, text)
        space = run(parts)
        for found, expected in zip(space["f"](x, y), script(x, y), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)


class Mirror(torch.nn.Module):
    def forward(self, x):
        x.add_(1.0)
        return x.mul_(x.flip([0]))


class Named(Mirror):
    def forward(self, x):
        x.add_(1.0)
        return x


class Names(unittest.TestCase):
    def test_are_not_those_of_calls_that_are_gone(self) -> None:
        self.assertEqual(typed_names(["and_0", "sub_1", "gate", "copy"]), ["x", "y", "gate", "copy"])
        self.assertEqual(typed_names(["lift_fresh_copy", "state"]), ["x", "state"])


class Statements(unittest.TestCase):
    def test_have_what_is_returned_where_that_computes_anything(self) -> None:
        for module, expected in [(Mirror(), "x.add_(1.0); x.mul_(x.flip(0))"), (Named(), "x.add_(1.0)")]:
            parts = TypedRepro(torch.jit.script(module.eval()), [("x", "input", None, torch.ones(2))], FACTS).parts()
            self.assertEqual(parts["statement"], expected)


class Scaled(torch.nn.Module):
    """The module that tracing makes of `x ** -1.5 + 2`: its numbers are tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("c", torch.tensor(-1.5, dtype=torch.float64))
        self.register_buffer("d", torch.tensor(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x**self.c + self.d


class Numbers(unittest.TestCase):
    def test_of_a_traced_program_stand_where_its_user_had_them(self) -> None:
        script, x = torch.jit.script(Scaled()), torch.full((2,), 4.0)
        inputs = [("x", "input", None, x), *((name, "buffer", None, buffer) for name, buffer in script.named_buffers())]
        plainest, next_one, _ = (way.parts() for way in programs(script, inputs, FACTS))
        self.assertEqual(plainest["statement"], "x ** (-1.5) + 2")
        self.assertEqual(next_one["statement"], "x ** c + d")
        self.assertTrue(torch.equal(run(plainest)["f"](x), script(x)))


class Held(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x - self.mean)


class Attributes(unittest.TestCase):
    def test_are_read_by_the_names_that_they_get(self) -> None:
        script, x = torch.jit.script(Held().eval()), torch.arange(2.0)
        inputs = [("x", "input", None, x), ("mean", "buffer", None, torch.ones(2))]
        for kind in (TypedRepro, FxRepro):
            with self.subTest(kind.__name__):
                parts = kind(script, inputs, FACTS).parts()
                self.assertTrue(torch.equal(run(parts)["f"](x), script(x)))


class Modules(unittest.TestCase):
    def test_are_classes_for_what_a_function_cannot_say(self) -> None:
        script = torch.jit.script(Add().eval())
        parts = emit.Repro(script, [("x", "input", None, torch.ones(2))], FACTS | {"device": "cuda:0"}).parts()
        self.assertTrue(parts["is_module"])
        self.assertEqual(parts["callable"], "Repro().eval().to('cuda:0')")
        self.assertTrue(parts["inputs"][0][1].endswith(".to('cuda:0')"), parts["inputs"])

    def test_of_much_data_read_files(self) -> None:
        inputs = [("x", "input", None, torch.rand(40000)), ("y", "input", None, torch.ones(1))]
        parts = emit.Repro(torch.jit.script(Add().eval()), inputs, FACTS).parts()
        self.assertTrue(parts["reads_files"] and not parts["reads_attributes"])
        self.assertEqual(parts["inputs"][0][0], "x, y")


class Calls(unittest.TestCase):
    def test_are_a_function_that_a_person_types(self) -> None:
        parts = parts_of_calls()
        self.assertEqual(parts["definition"], "def f(x, weight):\n    return F.avg_pool1d(x, 2) + weight")
        self.assertEqual(parts["imports"], ["import torch", "import torch.nn.functional as F"])
        self.assertEqual(parts["inputs"][0], ["x", "torch.ones(1, 4)"])
        self.assertEqual(parts["statement"], "F.avg_pool1d(x, 2) + weight")
        self.assertFalse(parts["writes"] or parts["draws"] or parts["is_module"])

    def test_an_input_with_a_name_of_the_scripts_gets_one_of_its_own(self) -> None:
        taken = {"model", "model_0", *emit.TAKEN}
        self.assertEqual([emit.Repro.variable(name, taken) for name in ("model", "model_0")], ["model_0_0", "model_0"])

    def test_run_as_they_are_written(self) -> None:
        for grad in (False, True):
            space = run(parts_of_calls(grad=grad))
            self.assertEqual(space["f"](space["x"], space["weight"]).tolist(), [[2.0, 2.0]])


class Exported(unittest.TestCase):
    def test_is_a_module_that_is_typed(self) -> None:
        script = torch.jit.freeze(torch.jit.script(Layer().eval()), ["weight"])
        x, y, weight = torch.ones(2, 2), torch.tensor([[0.5, 2.0], [1.0, 1.0]]), torch.tensor([1.0, 2.0])
        inputs = [("x", "input", None, x), ("y", "input", None, y), ("weight", "parameter", None, weight)]
        parts = emit_recipe.programs(script, inputs, FACTS)[0].parts()
        self.assertIn("\n    def forward(self, x, y):\n        ", parts["definition"])
        self.assertIn("self.weight", parts["definition"])
        self.assertNotIn("torch.ops", parts["definition"])
        self.assertTrue(parts["is_module"])
        module = eval(parts["callable"], run(parts))
        for found, expected in zip(torch.export.export(module, (x, y)).module()(x, y), script(x, y), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)

    def test_is_a_module_of_calls_too(self) -> None:
        inputs = [("tanh_3", "input", {"kind": "ones"}, torch.ones(1, 4)), ("weight", "input", None, torch.ones(2))]
        parts = emit_recipe.programs(SCRIPT, inputs, FACTS)[0].parts()
        self.assertIn("    def forward(self, x", parts["definition"])
        self.assertEqual(eval(parts["callable"], run(parts))(torch.ones(1, 4), torch.ones(2)).tolist(), [[2.0, 2.0]])


class AheadOfTime(unittest.TestCase):
    def test_is_compared_by_the_rule_in_force(self) -> None:
        how = {"form": "close", "rtol": 1e-3, "atol": 1e-3, "limit": 0.5, "equal_nan": True, "as_it_is": False,
               "relative_to_expected": True, "floating_only": False}  # fmt: skip
        one, other, nan = torch.ones(2), torch.tensor([1.0, 2.0]), torch.tensor([1.0, float("nan")])
        for form in ahead_of_time.DIFFER:
            same = {"equal", "overlap", "direction"} | ({"places"} if form == "places" else set())
            with self.subTest(form):
                self.assertFalse(ahead_of_time.differs(one, one, "accuracy", how | {"form": form}))
                self.assertEqual(bool(ahead_of_time.differs(one, other, "accuracy", how | {"form": form})),
                                 form not in same)  # fmt: skip
        self.assertTrue(ahead_of_time.differs(one, nan, "nan", how | {"form": "places"}))
        self.assertTrue(ahead_of_time.differs(one, one.int(), "dtype", how))

    def test_a_package_may_call_what_python_alone_registers(self) -> None:
        for names, found in ((["aten::sort", "prims::normal"], "prims::normal"), (["aten::sort"], None)):
            with tempfile.NamedTemporaryFile() as file:
                with zipfile.ZipFile(file, "w") as package:
                    nodes = [{"name": "buf0", "node": {"target": name}} for name in names]
                    package.writestr("model/data/wrapper.json", json.dumps({"nodes": nodes}))
                    package.writestr("model/data/wrapper_metadata.json", json.dumps({"AOTI_DEVICE_KEY": "cpu"}))
                self.assertEqual(ahead_of_time.operator_of_python(file.name), found)


class Entries(unittest.TestCase):
    def test_a_generator_of_its_own_is_what_torch_compile_has_in_any_case(self) -> None:
        for configured, settings, random in (
            ([], [], ["import torch._inductor.config", "torch._inductor.config.fallback_random = True"]),
            ([("fallback_random", False)], [], []),
        ):
            with mock.patch.object(entries, "configured", configured):
                call = entries.call_of_its_user()
                self.assertEqual((call["settings"], call["random_settings"]), (settings, random))


if __name__ == "__main__":
    unittest.main()
