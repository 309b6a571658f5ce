"""Recipes: what a recipe that does wrong is told, what its steps are, and whether those of ours fit their trackers.

inductor_recipe.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import ast
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))

import torch

import needs
import recipe
from calls import Untranslatable
from failure import first_sentence

RIGHT = "def compile(program, inputs):\n    return program.module()\n"

FORMS = {  # what the tracker of each asks for
    "onnxruntime": [
        "Describe the issue", "To reproduce", "Urgency", "Platform", "OS Version", "ONNX Runtime Installation",
        "ONNX Runtime Version or Commit ID", "ONNX Runtime API", "Architecture", "Execution Provider",
        "Execution Provider Library Version",
    ],
    "openvino": [
        "OpenVINO Version", "Operating System", "Device used for inference", "Framework", "Model used",
        "Issue description", "Step by step reproduction", "Relevant log output",
    ],
    "executorch": ["🐛 Describe the bug", "Versions"],
    "tvm": ["Expected behavior", "Actual behavior", "Environment", "Steps to reproduce", "Triage"],
    "iree": [
        "What happened?", "Steps to reproduce your issue", "What component(s) does this issue relate to?",
        "Version information", "Additional context",
    ],
}  # fmt: skip
WORDS = {"problem", "script", "attached", "versions", "version", "log", "os", "architecture", "cpu", "system", "python"}


class Sum(torch.nn.Module):
    def forward(self, x, y):
        return x + y, x * y


INPUTS = (torch.arange(3.0), torch.ones(3))


def made(text, **options):
    """The recipe that has this text."""
    path = Path(tempfile.mkdtemp()) / "mine.py"
    path.write_text(text)
    return recipe.Recipe(str(path), options)


def ran(text, steps=None, **options):
    return made(text, **options).compile(Sum(), INPUTS, steps)(*INPUTS)


def raised(kind, call):
    """The message of what the call raises."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__} was raised")


def calling(body):
    return "import os\nimport torch\ndef compile(program, inputs):\n    def call(x, y):\n" + "".join(
        f"        {line}\n" for line in body.splitlines()
    ) + "    return call\n"  # fmt: skip


class AnyModule(types.ModuleType):
    """Stands for a runtime that is not installed here."""

    __path__ = []

    def __getattr__(self, name):
        return AnyModule(name)

    def __call__(self, *given, **named):
        return self


class AnyFinder:
    def find_spec(self, name, path, target=None):
        import importlib.machinery

        if name.partition(".")[0] in ("onnx", "onnxruntime", "openvino", "executorch", "tvm", "iree"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return AnyModule(spec.name)

    def exec_module(self, module):
        pass


class Recipes(unittest.TestCase):
    def test_what_is_right_runs(self):
        found = ran(RIGHT)
        assert torch.equal(found[0], INPUTS[0] + 1) and torch.equal(found[1], INPUTS[0])
        assert all(isinstance(x, torch.Tensor) for x in ran(calling("return [(x + y).numpy(), (x * y).numpy()]")))

    def test_what_cannot_be_loaded_is_said(self):
        assert "defines compile" in raised(ValueError, lambda: made("x = 1\n"))
        assert "ZeroDivisionError" in raised(ValueError, lambda: made("1 / 0\n"))
        assert "SystemExit" in raised(ValueError, lambda: made("raise SystemExit(3)\n"))
        text = 'NEEDS = ("no-such-runtime",)\nimport no_such_runtime\n'
        assert "pip install no-such-runtime" in raised(ValueError, lambda: made(text))
        assert "has no such option" in raised(ValueError, lambda: made(RIGHT, level=1))

    def test_what_it_does_to_the_process_is_told_apart(self):
        assert "changes input 0" in raised(Untranslatable, lambda: ran(calling("x.add_(1)\nreturn [x, y]")))
        assert "tensors" in raised(Untranslatable, lambda: ran(calling("return ['a', 'b']")))
        unheard = raised(Untranslatable, lambda: ran(calling("x.bfloat16().numpy()")))
        assert "hands its inputs over as arrays of numpy" in unheard
        assert "cannot be called" in raised(Untranslatable, lambda: ran("def compile(program, inputs): pass\n"))
        assert "ends the process" in raised(Untranslatable, lambda: ran(calling("raise SystemExit(0)")))
        assert "returns 1 results, where the program has 2" in raised(RuntimeError, lambda: ran(calling("return [x]")))
        assert "no such operator" in raised(KeyError, lambda: ran(calling("raise KeyError('no such operator')")))

    def test_of_a_long_message_the_line_is_told_that_says_what_is_wrong(self):
        places = "Exception from src/core.cpp:133:\nCheck 'newNode' failed at src/node.cpp:1626:\n"
        said = "Unsupported operation of type: Convolution name: convolution/Convolution.0\nDetails:\nmore"
        assert first_sentence(RuntimeError(places + said)) == "Unsupported operation of type: Convolution"
        said = "Model wasn't converted.\n-- aten.a with a message:\nfew inputs\nS:\n-- No rule for: aten.a, aten.b"
        assert first_sentence(RuntimeError(places + said)) == "No rule for: aten.a"
        assert first_sentence(RuntimeError("[ONNXRuntimeError] : 1 : FAIL : Type Error: a")) == "Type Error: a"
        assert first_sentence(RuntimeError("expected one of:\na\nb")) == "expected one of:"

    def test_a_fork_that_comes_back_ends(self):
        before = os.getpid()
        ran(calling("os.fork()\nreturn [x + y, x * y]"))
        assert os.getpid() == before

    def test_steps_are_taken_as_far_as_they_are_named(self):
        text = "def compile(p, i, a=True, b=True):\n    return lambda x, y: [torch.tensor([float(a), float(b)]), x]\n"
        text = "import torch\n" + text + "def steps(): return ['a', 'b']\ndef without(step): return {step: False}\n"
        assert made(text).steps == ["torch.export", "mine", "a", "b"]
        assert torch.equal(ran(text, [])[0], INPUTS[0] + 1)
        assert torch.equal(ran(text, ["torch.export"])[0], INPUTS[0] + 1)
        assert ran(text, ["torch.export", "mine"])[0].tolist() == [0, 0]
        assert ran(text, ["torch.export", "mine", "a"])[0].tolist() == [1, 0]
        assert ran(text)[0].tolist() == [1, 1]

    def test_what_a_converter_makes_is_run_by_another_than_the_runtime(self):
        text = "import torch\nCONVERTER = ('conv', 'reference', 'elsewhere')\n"
        text += "def compile(p, i): return lambda x, y: [x, x]\ndef converted(p, i): return lambda x, y: [y, y]\n"
        assert made(text).steps == ["torch.export", "conv", "mine"]
        assert torch.equal(ran(text, ["torch.export"])[0], INPUTS[0] + 1)
        assert torch.equal(ran(text, ["torch.export", "conv"])[0], INPUTS[1])
        assert torch.equal(ran(text)[0], INPUTS[0])

    @unittest.skipUnless("REPRO_MINIFY_ALL_TESTS" in os.environ, "scripts/test.sh --all runs it")
    def test_a_child_of_a_prepared_one_imports_nothing_to_export(self):
        text = (
            "import sys; sys.path.insert(0, sys.argv[1]); import torch, recipe\n"
            "recipe.Recipe('aotinductor', {}).prepare()\nbefore = set(sys.modules)\n"
            "recipe.exported(torch.nn.LayerNorm(2), (torch.ones(2),)).run_decompositions()\n"
            "print(*set(sys.modules) - before)"
        )
        given = [sys.executable, "-W", "ignore", "-c", text, str(recipe.FOLDER.parent)]
        assert subprocess.run(given, capture_output=True, text=True, check=True).stdout.split() == []

    def test_one_without_a_text_is_written_down_itself(self):
        imports, statements = made(RIGHT).as_written()
        space = {"torch": torch, "model": Sum(), "inputs": INPUTS}
        exec("\n".join([*imports, *statements]), space)
        assert torch.equal(space["found"][0], INPUTS[0] + 1)

    def test_ours_fit_their_trackers(self):
        sys.meta_path.insert(0, AnyFinder())
        paths = sorted(recipe.FOLDER.glob("*.py"))
        assert len(paths) >= 5, paths
        for path in paths:
            ours = recipe.Recipe(path.stem, {})
            assert len(path.read_text().splitlines()) <= 80, path
            assert needs.needs_of(path), path
            tracker = ours.part("tracker", {})
            if path.stem in FORMS:
                headings = [heading for heading, _ in tracker["fields"]]
                assert [heading for heading in headings if heading in FORMS[path.stem]] == FORMS[path.stem], path
                for _, content in tracker["fields"]:
                    assert content.startswith("=") or set(content.split()) <= WORDS, (path, content)
                words = " ".join(content for _, content in tracker["fields"]).split()
                assert {"problem", "script", "versions"} <= set(words), path
            else:
                assert tracker == {"project": "pytorch"}, path
            imports, statements = ours.as_written()
            tree = ast.parse("\n".join([*imports, *statements]))
            assert tree.body[-1].targets[0].id == "found" and len(imports) + len(statements) <= 8, path
            for step in ours.steps[ours.steps.index(path.stem) + 1 :]:
                recipe.require_options(ours.module.compile, ours.module.without(step))


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
