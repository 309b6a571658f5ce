"""The values of --inductor-config, --load-library and --import: options of torch.compile, entries of
torch._inductor.config, libraries and modules of operators. Every child of the worker inherits them."""

import ast
import difflib
import sys

import torch
import torch._inductor
import torch._inductor.config as inductor_config

import imports
import recipe

COMPILE_OPTIONS = ("mode", "dynamic", "fullgraph", "backend")
FRONT_ENDS = ("dynamo", "fx")  # the first is torch.compile as users call it
compile_options: dict[str, object] = {}
front_end: str | None = None  # whichever can
libraries: list[str] = []  # of operators of the user's own
recipe_in_use: recipe.Recipe | None = None  # what compiles in the place of torch.compile
steps: list[str] | None = None  # of the recipe that are taken; None: all
configured: list[str] = []  # the entries of torch._inductor.config, and the options above, as they were given


def parse_entry(entry):
    """KEY=VALUE; the value is a Python literal, or else a string."""
    key, _, text = entry.partition("=")
    words = {"true": True, "false": False, "none": None}
    try:
        return key, words[text.lower()] if text.lower() in words else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return key, text


def check_entries(entries):
    """Throws ValueError for what TorchInductor does not know."""
    global front_end, steps
    options, named = {}, ""
    for key, value in map(parse_entry, entries):
        if key == "backend-option":
            options.update([parse_entry(str(value))])
            continue
        if key == "recipe":
            named = str(value)
            continue
        if key == "steps":
            steps = list(value)
            continue
        if key == "load-library":
            torch.ops.load_library(str(value))
            libraries.append(str(value))
            continue
        if key == "import-module":
            imports.import_module(str(value))
            continue
        if key == "frontend":
            if value not in FRONT_ENDS:
                raise ValueError(f"--inductor-config frontend={value}: unknown; known are {', '.join(FRONT_ENDS)}")
            front_end = value
            continue
        if key in COMPILE_OPTIONS:
            compile_options[key] = value
        elif key not in inductor_config._config:
            near = did_you_mean(key, [*inductor_config._config, *COMPILE_OPTIONS])
            raise ValueError(f"--inductor-config {key}: torch._inductor.config has no such entry{near}")
        configured.append((key, value))
    use_backend(named, options)
    mode = compile_options.get("mode")
    if mode is not None and mode not in torch._inductor.list_mode_options():
        known = ", ".join(torch._inductor.list_mode_options())
        raise ValueError(f"--inductor-config mode={mode}: unknown mode; known are {known}")


def use_backend(named, options):
    """Takes the recipe of that name, or else the options for the backend of torch.compile."""
    global recipe_in_use
    if named:
        recipe_in_use = recipe.Recipe(named, options)
    elif options:
        compile_options["options"] = options
    backend = compile_options.get("backend")
    if not isinstance(backend, str):
        return  # none, or a function that was found before
    if backend == "inductor" and options:  # torch.compile refuses others in the middle of a check
        try:
            torch._TorchCompileInductorWrapper(None, dict(options), None)
        except RuntimeError as error:
            raise ValueError(f"--backend-option: {str(error).partition(', known')[0]}") from error
    if ":" in backend:
        compile_options["backend"] = function_named(backend)
    elif backend not in known_backends():
        known = ", ".join(known_backends())
        near = did_you_mean(backend, known_backends())
        raise ValueError(f"{backend}: torch.compile has no such backend here{near or ';'} it has {known}")


def did_you_mean(word, known):
    """Returns the end of a sentence about a word that is not known: "; did you mean eager?", or ""."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def function_named(given):
    """The function of MODULE:FUNCTION or FILE.py:FUNCTION."""
    module, _, name = given.rpartition(":")
    before = len(imports.operators)
    imports.import_module(module)
    function = getattr(sys.modules[imports.names[-1]], name, None)
    if len(imports.operators) == before:
        imports.names.pop()  # its function is all that repro.py needs of it
    if not callable(function):
        raise ValueError(f"{module} has no function {name}")
    return function


def known_backends():
    import torch._dynamo

    return torch._dynamo.list_backends(exclude_tags=())


def configure():
    for key, value in configured:
        if key not in COMPILE_OPTIONS:
            place = inductor_config
            *path, last = key.split(".")
            for part in path:
                place = getattr(place, part)
            setattr(place, last, value)


def written(value):
    return getattr(value, "__name__", repr(value))


def call_of_its_user():
    """How torch.compile, or a recipe, is called with these entries, as PythonCall of backends/in_python.h has it."""
    if recipe_in_use:
        lines, statements = recipe_in_use.as_written()
        return {"settings": lines, "random_settings": [], "optimised": "", "without_front_end": "",
                "statements": statements}  # fmt: skip
    options = "".join(f", {key}={written(value)}" for key, value in compile_options.items())
    entries = {key: value for key, value in configured if key not in COMPILE_OPTIONS}
    random = [] if "fallback_random" in entries else ["torch._inductor.config.fallback_random = True"]
    if entries.get("fallback_random") is False:  # as it is without being set
        del entries["fallback_random"]
    lines = [f"torch._inductor.config.{key} = {value!r}" for key, value in entries.items()]
    if lines or random:
        (lines or random).insert(0, "import torch._inductor.config")
    if callable(function := compile_options.get("backend")):
        lines.insert(0, f"from {function.__module__} import {function.__name__}")
    if front_end == "fx":
        lines.append("from torch._inductor.compile_fx import compile_fx")
    mode = compile_options.get("mode")
    patches = f", config_patches=torch._inductor.list_mode_options({mode!r})" if mode else ""
    straight = f"lambda *inputs: compile_fx(torch.fx.symbolic_trace(model), list(inputs){patches})(*inputs)"
    return {
        "settings": lines,
        "random_settings": random,
        "optimised": straight if front_end == "fx" else f"torch.compile(model{options})",
        "without_front_end": "" if front_end else straight,
        "statements": [],
    }
