"""A recipe: one file of Python that says how a runtime compiles and runs what torch.export gives (docs/recipes.md)."""

import contextlib
import importlib.util
import inspect
import os
import platform
import sys
from pathlib import Path

import torch

from calls import Untranslatable
from failure import first_sentence
from needs import needs_of

FOLDER = Path(__file__).with_name("recipes")
EXPORT = "torch.export"  # the first step of each


class Recipe:
    """`given` is the name of one of ours, or a file; `options` are keyword arguments of its compile()."""

    def __init__(self, given, options):
        self.path = Path(given) if given.endswith(".py") else FOLDER / f"{given}.py"
        self.name = self.path.stem
        self.options = options
        self.module = loaded(self.path)
        self.title = getattr(self.module, "TITLE", self.name)
        self.converter = getattr(self.module, "CONVERTER", None)
        self.steps = [EXPORT, *(self.converter or [])[:1], self.name, *self.part("steps", [])]
        require_options(self.module.compile, options)

    def part(self, name, default, *arguments, **options):
        """Returns what an optional function of the recipe gives, or the default."""
        function = getattr(self.module, name, None)
        return function(*arguments, **options) if function else default

    def prepare(self):
        """Does once what every child would do again: imports, which the first export takes seconds for. Sessions and
        threads are for the children."""
        exported(torch.nn.Linear(1, 1), (torch.zeros(1),)).run_decompositions()
        self.part("prepare", None)

    def options_with(self, steps):
        """Returns the options under which only these of its own steps are taken. Of two that set the same, the earlier
        step has its way."""
        options = dict(self.options)
        for step in reversed(self.steps[self.steps.index(self.name) + 1 :]):
            if step not in steps:
                options.update(self.module.without(step))
        return options

    def compile(self, module, inputs, steps):
        """Returns what runs the module as far as the steps say: in eager, exported and in eager, converted and in a
        reference implementation, or compiled."""
        steps = self.steps if steps is None else steps
        if EXPORT not in steps:
            return module
        program = exported(module, inputs)
        if self.name in steps:
            return Run(self, self.module.compile, program, inputs, self.options_with(steps))
        if self.converter and self.converter[0] in steps:
            return Witness(self, self.module.converted, program, inputs, {})
        return program.module(check_guards=False)

    def artefact(self, module, inputs, folder):
        """Writes what the runtime loads into the folder."""
        if hasattr(self.module, "artefact"):
            self.module.artefact(exported(module, inputs), inputs, folder, **self.options)

    def as_written(self):
        """Returns two lists of lines: imports, and statements that make `found`, a list, of `model` and `inputs`, as
        the user of the runtime writes them. A recipe that has none says it with its own text."""
        if text := self.part("as_written", "", **self.options):
            lines = [line for line in inspect.cleandoc(text).splitlines() if line and line != "import torch"]
            imports = [line for line in lines if line.startswith(("import ", "from "))]
            return imports, [line for line in lines if line not in imports]
        given = "".join(f", {key}={value!r}" for key, value in self.options.items())
        results = f"results = compile(torch.export.export(model, inputs), inputs{given})(*inputs)"
        found = "found = [torch.as_tensor(x) for x in torch.utils._pytree.tree_leaves(results)]"
        return [self.path.read_text().rstrip()], [results, found]

    def facts(self):
        """Returns the facts about it that export_backend.cpp reads."""
        return {"title": self.title, "name": self.name, "steps": self.steps, "converter": self.converter,
                "versions": versions(self), "tracker": self.part("tracker", {}), "system": system()}  # fmt: skip


class Run:
    """A program that a function of a recipe has compiled: callable as the module is."""

    def __init__(self, recipe, function, program, inputs, options):
        self.recipe = recipe
        self.count = len(program.graph_signature.user_outputs)
        given = [tensor.detach().clone() for tensor in inputs]
        self.call = self.guarded(function, (program, tuple(given)), given, inputs, options)
        if not callable(self.call):
            raise self.fault(f"compile() returned a {type(self.call).__name__}, which cannot be called")

    def __call__(self, *inputs):
        given = [tensor.detach().clone() for tensor in inputs]
        results = self.guarded(self.call, given, given, inputs, {})
        results = [results] if is_array(results) else results
        if not isinstance(results, (list, tuple)) or not all(map(is_array, results)):
            raise self.fault(f"its function returned {kinds_in(results)}: it is to return tensors, or arrays of numpy")
        if len(results) != self.count:
            raise RuntimeError(
                f"{self.recipe.title} returns {len(results)} results, where the program has {self.count}"
            )
        return [x if isinstance(x, torch.Tensor) else torch.as_tensor(x) for x in results]

    def fault(self, what):
        return Untranslatable(f"the recipe {self.recipe.path.name}: {what}")

    def guarded(self, function, arguments, given, inputs, options):
        """Calls a function of the recipe, and sees what it does to what it was given and to this process."""
        process = os.getpid()
        try:
            result = function(*arguments, **options)
        except SystemExit as leaving:
            raise self.fault(f"it ends the process ({leaving.code}) where it is to return or raise") from leaving
        except TypeError as error:
            if "unsupported ScalarType" in str(error):  # of Tensor.numpy(): the runtime was never asked
                raise self.fault(f"it hands its inputs over as arrays of numpy: {error}") from error
            raise
        finally:
            if os.getpid() != process:
                os._exit(0)  # a fork of the recipe's that came back: it is not the one that answers
        for place, (now, before) in enumerate(zip(given, inputs)):
            if written(before, now):
                raise self.fault(f"it changes input {place}, which is to be read only")
        return result


class Witness(Run):
    """A program that a recipe has converted, run by another than its runtime, whose own troubles say nothing."""

    def __call__(self, *inputs):
        try:
            return super().__call__(*inputs)
        except Untranslatable:
            raise
        except Exception as error:
            raise Untranslatable(f"{self.recipe.converter[1]} raises: {first_sentence(error)}") from error


def written(old, new):
    """Returns True if the bytes differ: NaN is equal to NaN here."""
    return old.shape != new.shape or not torch.equal(as_bytes(old), as_bytes(new))


def as_bytes(tensor):
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def is_array(value):
    return isinstance(value, torch.Tensor) or hasattr(value, "__array_interface__")


def kinds_in(value):
    parts = value if isinstance(value, (list, tuple)) else [value]
    return f"{type(value).__name__} of " * (parts is value) + ", ".join(sorted({type(part).__name__ for part in parts}))


def exported(module, inputs):
    try:
        return torch.export.export(module, tuple(inputs))
    except (MemoryError, OSError):  # which say nothing of the program
        raise
    except Exception as error:
        raise RuntimeError(f"torch.export: {type(error).__name__}: {' '.join(str(error).split())[:300]}") from None


def loaded(path):
    """The module that a recipe's file is. Raises ValueError with a sentence where it is none."""
    spec = importlib.util.spec_from_file_location(f"recipe_{path.stem}", path)
    module = importlib.util.module_from_spec(spec) if spec and spec.loader else None
    try:
        if module is None or not path.is_file():
            raise ImportError("there is no such file of Python")
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        needs = needs_of(path)
        hint = f"; into this Python goes: pip install {' '.join(needs)}" if needs else ""
        raise ValueError(f"{sys.executable} has no module {error.name}{hint}") from error
    except BaseException as error:
        raise ValueError(f"{path.name}: {type(error).__name__}: {' '.join(str(error).split())[:200]}") from error
    if not callable(getattr(module, "compile", None)):
        raise ValueError(f"{path.name}: a recipe defines compile(exported_program, inputs), and this one does not")
    return module


def require_options(compile_function, options):
    for key in options:
        try:
            inspect.signature(compile_function).bind(None, None, **{key: None})
        except TypeError:
            known = list(inspect.signature(compile_function).parameters)[2:]
            says = f"; known are {', '.join(known)}" if known else "; it has none"
            raise ValueError(f"--backend-option {key}: this recipe has no such option{says}") from None


def versions(recipe):
    """Returns [name, version] of what takes part, torch first."""
    found = [["torch", torch.__version__]]
    given = recipe.part("version", None)
    if isinstance(given, str):
        return [*found, [recipe.title, given]]
    if isinstance(given, dict):
        return [*found, *([name, str(version)] for name, version in given.items())]
    from importlib import metadata

    for name in needs_of(recipe.path):
        try:
            found.append([name, metadata.version(name)])
        except metadata.PackageNotFoundError:
            pass
    return found


def system():
    """The machine, in the words that forms ask for."""
    os_name = platform.platform()
    with contextlib.suppress(OSError):
        os_name = platform.freedesktop_os_release()["PRETTY_NAME"]
    cpu = ""
    with contextlib.suppress(OSError, StopIteration), open("/proc/cpuinfo") as lines:
        cpu = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "python": platform.python_version(), "os": os_name, "architecture": platform.machine(), "cpu": cpu,
        "system": platform.system(),
    }  # fmt: skip
