"""repro.py of what a recipe compiles: the script of a user of that runtime, of fifteen lines or so; and a longer one
that tells the failure from others by itself."""

import re

import torch

import emit_fx
import entries
from calls import Untranslatable
from emit import comment


def scripts(repro):
    """Short scripts for an emit.Repro, the plainest first; none for what takes more than one call of the model."""
    facts = repro.facts
    if facts["grad"] or facts["autocast"] or facts["where"] == "state" or repro.literals is None:
        return []
    try:
        typed = repro if isinstance(repro, emit_fx.FxRepro) else emit_fx.TypedRepro(repro.script, repro.inputs, facts)
    except (Untranslatable, KeyError, ValueError):
        return []
    return [Script(typed).text()] if not typed.draws_random_numbers() else []


class Script:
    def __init__(self, repro):
        self.repro = repro
        self.facts = repro.facts
        self.names = [name for name, role, _, _ in repro.inputs if role == "input"]

    def text(self):
        imports, statements = entries.recipe_in_use.as_written(self.facts["only_exported"])
        values = [self.repro.literals[name] for name in self.names]
        lines = [
            "# " + comment(self.facts["headline"]),
            "# Found: " + comment(self.facts["found"]),
            f"# Seen with PyTorch {torch.__version__}; {self.facts['minimised']}.",
            "",
            "import torch",
            *[line for line in [*self.repro.used, *imports] if line != "import torch"],
            "",
            "",
            *self.module(),
            "",
            "",
            *[f"{name} = {value}" for name, value in zip(self.names, values)],
            f"model, inputs = Repro().eval(), ({''.join(name + ', ' for name in self.names).rstrip()})",
            "expected = model(*inputs)",
            'print("eager:", expected, flush=True)',
            *statements,
            *self.comparison(),
        ]
        return "\n".join(lines) + "\n"

    def module(self):
        """The function of the repro as the forward of a module, which is what torch.export takes."""
        given, forward = self.repro.classes().strip("\n").split("\n"), []
        at = next(place for place, line in enumerate(given) if line.startswith("def f("))
        head = re.sub(r"^def f\((?=\))", "def forward(self", re.sub(r"^def f\((?!\))", "def forward(self, ", given[at]))
        forward = [head, *given[at + 1 :]]
        before = [line for line in given[:at] if line]
        return [*before, "class Repro(torch.nn.Module):", *(f"    {line}" if line else "" for line in forward)]

    def comparison(self):
        """Returns lines that assert that the results are the same, as far as this failure needs it."""
        how, kind, marker = self.facts["differs"], self.facts["kind"], self.facts["marker"]
        if kind in ("exception", "crash", "hang", "memory"):
            return []
        alone = not self.returns_several()
        expected, found = ("expected", "found[0]") if alone else ("expected", "tuple(found)")
        message = f'msg=lambda text: text + "\\n" + {marker!r}'
        each = self.rule(how, marker) if kind not in ("dtype", "shape", "structure") else None
        if each:
            pairs = f"[({expected}, {found})]" if alone else f"zip({expected}, found)"
            return [f"for e, f in {pairs}:", *(f"    {line}" for line in each)]
        rtol, atol = (how["rtol"], how["atol"]) if how["form"] == "close" else (1e-3, 1e-3)
        nan = ", equal_nan=True" if how["form"] != "close" or how["equal_nan"] else ""
        how_close = f"rtol={rtol}, atol={atol}{nan}, check_dtype={kind == 'dtype'}"
        return [f"torch.testing.assert_close({found}, {expected}, {how_close},",
                f"                           {message})"]  # fmt: skip

    @staticmethod
    def rule(how, marker):
        """The rules that torch.testing.assert_close has not, as lines about `e` and `f`."""
        if how["form"] == "rms":
            return ["error = torch.nan_to_num(f.double() - e.double(), 0, 0, 0).square().mean().sqrt()",
                    f"assert error <= {how['limit']}, f\"off by {{error}}\\n\" + {marker!r}"]  # fmt: skip
        if how["form"] == "bound":
            return [f"bound = e.double().abs().clamp_min(1) * {how['rtol']} + {how['limit']}",
                    f"assert ((f.double() - e.double()).abs() <= bound).all(), {marker!r}"]  # fmt: skip
        if how["form"] in ("exact", "equal"):
            return [f"assert torch.equal(e.double().nan_to_num(), f.double().nan_to_num()), {marker!r}"]
        return None

    def returns_several(self):
        """True if the model returns a tuple, which is then compared one by one."""
        return any(re.match(r"\s*return .*,", line) and self.is_tuple(line) for line in self.repro.forward[-1:])

    @staticmethod
    def is_tuple(line):
        import ast

        value = ast.parse(line.strip().removeprefix("return "), mode="eval").body
        return isinstance(value, (ast.Tuple, ast.List))


def long(repro):
    """The same emit.Repro, whose optimised side is the runtime's."""
    imports, statements = entries.recipe_in_use.as_written(repro.facts["only_exported"])
    repro.straight_to_inductor = lambda: "\n" + "\n".join([
        *imports, "", "",
        "def through_the_runtime(function):",
        "    class Model(torch.nn.Module):",
        "        def forward(self, *inputs):",
        "            return function(*inputs)",
        "",
        "    def call(*inputs):",
        "        model = function if isinstance(function, torch.nn.Module) else Model()",
        *(f"        {line}" for line in statements),
        "        return found",
        "",
        "    return call",
    ])  # fmt: skip
    repro.compiled = lambda: "through_the_runtime(model)"
    return repro
