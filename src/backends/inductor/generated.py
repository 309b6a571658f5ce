"""The code that TorchInductor makes of a program, short enough to be read in a report.

    with Watch() as watch:
        compiled(*arguments)
    watch.shown()   # {"language": "cpp", "code": "auto tmp1 = ...", "calls": "", "origins": [...]}

It holds the statements of the last graph's kernels, what calls them where that calls anything else, and where in
PyTorch each operator is decomposed or lowered: the file, the line, and the source of a decomposition that is short.
"""

import contextlib
import copy
import functools
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch._inductor import config, cpu_vec_isa, decomposition, lowering
from torch._inductor.graph import GraphLowering
from torch.utils._python_dispatch import TorchDispatchMode

import explanation
import kernel_values

MOST_LINES = 60  # of code that is shown
MOST_SOURCE = 14  # lines of a function in PyTorch that is shown whole
MOST_ORIGINS = 4
MOST_HELPERS = 3  # of a decomposition

TORCH = Path(torch.__file__).parent.parent

KERNEL = re.compile(r"^(\w+) = async_compile\.\w+\([^\n]*'''\n(.*?)'''", re.DOTALL | re.MULTILINE)
BOOKKEEPING = re.compile(r"#pragma|inductor_cpu_\w*integer_div|#include|^\s*[{}]*;?\s*$")
"""Lines of a kernel that say nothing about what it computes."""
SIZES = {"uint8_t": 1, "int8_t": 1, "bool": 1, "int16_t": 2, "uint16_t": 2, "half": 2, "bfloat16": 2}
"""The bytes of an element, for types of which a vector holds more than of float, after which loops count."""
# "buf2 = buf0; del buf0  # reuse", "buf1 = buf0", and "buf0 = torch.ops.aten.view.dtype(arg0_1, torch.int32)"
SAME_MEMORY = re.compile(
    r"^ *(\w+) = (?:torch\.ops\.aten\.view\.dtype\()?(\w+)(?:, torch\.\w+\))?(?:; *del\b.*)?$", re.MULTILINE
)
OVERHEAD = re.compile(r"\s*(#|del |args\.clear|assert_|arg\w*(, arg\w*)*,? = args|buf\d+ = empty_strided|return )")
"""Lines of what calls the kernels that say nothing about what is called."""


class Watch(contextlib.ExitStack):
    """While it is open, it notes what is compiled. Caches that would answer in place of the compiler are off."""

    def __enter__(self) -> "Watch":
        self.code: list[str] = []
        self.origins: dict[str, dict[str, Any]] = {}
        self.depth = 0
        super().__enter__()
        self.enter_context(config.patch(fx_graph_cache=False))
        self.enter_context(torch._functorch.config.patch(enable_autograd_cache=False))
        called = self.lowering_of(GraphLowering.call_function)
        self.enter_context(mock.patch.object(GraphLowering, "save_output_code", staticmethod(self.code.append)))
        self.enter_context(mock.patch.object(GraphLowering, "call_function", called))
        for table in (decomposition.decompositions, decomposition.extra_random_decomps):
            noted = {operator: self.noted(operator, function) for operator, function in table.items()}
            self.enter_context(mock.patch.dict(table, noted))
        decomposition.fast_random_decomps.cache_clear()
        self.callback(decomposition.fast_random_decomps.cache_clear)
        return self

    def noted(self, operator: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        """A decomposition that notes that it was used, and not by another."""

        @functools.wraps(function)
        def decomposed(*arguments: Any, **keywords: Any) -> Any:
            self.depth += 1
            try:
                result = function(*arguments, **keywords)
            finally:
                self.depth -= 1
            if self.depth == 0 and result is not NotImplemented:
                self.note(operator, "decomposition", function)
            return result

        return decomposed

    def lowering_of(self, call_function: Callable[..., Any]) -> Callable[..., Any]:
        def called(graph: GraphLowering, target: Any, *more: Any) -> Any:
            function = lowering.lowerings.get(target)
            if isinstance(target, torch._ops.OpOverload) and function is not None:
                self.note(target, "lowering", function)
            return call_function(graph, target, *more)

        return called

    def note(self, operator: Any, kind: str, function: Callable[..., Any]) -> None:
        self.origins.setdefault(f"{kind} {operator}", {"operator": str(operator), "kind": kind, "function": function})

    def shown(self, values: list[dict[int, str]] | None = None) -> dict[str, Any]:
        """Returns what was noted, as the head of this file has it; `values` are those of kernel_values. What is too
        much to be read is left empty, and so is what was not compiled."""
        module = self.code[-1] if self.code else ""
        language, code = statements_of_kernels(module, values or [])
        calls = statements_of_calls(module)
        if language == "cpp" and len(calls) == len(KERNEL.findall(module)):
            calls = []  # of nothing but the kernels
        lanes = "Vectorized<" in code
        found = self.origins.values() if len(self.origins) <= MOST_ORIGINS else ()
        origins = [origin for origin in (where(each, lanes) for each in found) if origin]
        if len(code.splitlines()) + len(calls) > MOST_LINES:
            language, code, calls = "", "", []
        return {"language": language, "code": code, "calls": "\n".join(calls), "origins": origins}


def statements_of_calls(module: str) -> list[str]:
    """Returns what calls the kernels, and other libraries."""
    body = module.partition("def call(self, args):\n")[2].partition("\n\n")[0]
    return textwrap.dedent("\n".join(line for line in body.splitlines() if not OVERHEAD.match(line))).splitlines()


def statements_of_kernels(module: str, values: list[dict[int, str]]) -> tuple[str, str]:
    """Returns ("cpp", the statements of the kernels), ("python", kernels of Triton), or two empty texts."""
    kernels = KERNEL.findall(module)
    if not kernels:
        return "", ""
    if any("@triton" in kernel for _, kernel in kernels):
        return "python", "\n".join(kernel.partition("def ")[2].strip() for _, kernel in kernels)
    of_each = values if len(values) == len(kernels) else [{}] * len(kernels)
    parts = []
    for (name, kernel), noted in zip(kernels, of_each):
        parts += [same_memory(module, name, kernel), statements_of(kernel, noted)]
    return "cpp", "\n".join(part for part in parts if part)


def same_memory(module: str, name: str, kernel: str) -> str:
    """Returns a comment that says which arguments of a kernel are the same memory; empty where none are."""
    called = re.search(rf"^ *{name}\((.*)\)$", module, re.MULTILINE)
    parameters = re.findall(r"(\w+)[,)]", kernel.partition("kernel(")[2].partition("\n{")[0])
    given = re.findall(r"(?:reinterpret_tensor\()?(\w+)(?:, \(.*?\), \d+\))?(?:, |$)", called[1] if called else "")
    if len(parameters) != len(given):
        return ""
    body = kernel.partition("{\n")[2]
    memory_of: dict[str, str] = {}  # each value that has the memory of another
    for value, other in SAME_MEMORY.findall(module):
        memory_of[value] = memory_of.get(other, other)
    together: dict[str, list[str]] = {}
    for parameter, value in zip(parameters, given):
        if re.search(rf"\b{parameter}\b", body):
            together.setdefault(memory_of.get(value, value), []).append(parameter)
    return "\n".join(f"// {' and '.join(names)} are the same memory" for names in together.values() if len(names) > 1)


def statements_of(kernel: str, values: dict[int, str]) -> str:
    """`values` are what a line of the kernel's body computes."""
    body = kernel.partition("{\n")[2]
    lanes_used = 0
    within: list[int] = []  # the indentations of what a line stands in
    shown = []
    for place, text in enumerate(body.split("\n")):
        if BOOKKEEPING.search(text) or not text:
            continue
        line = plain_indices(text)
        while within and within[-1] >= indentation(line):
            within.pop()
        if step := re.search(r"\bfor\(.*\+=(\d+)\)", line):
            lanes_used = int(step[1])
        notes = [note for note in (lanes_used_by(line, lanes_used), values.get(place, "")) if note]
        shown.append("  " * len(within) + line.strip() + ("  // " + "; ".join(notes) if notes else ""))
        within.append(indentation(line))
    return "\n".join(shown)


def lanes_used_by(line: str, used: int) -> str:
    """Says how many lanes of a vector are loaded where the loop leaves some of them as they are; used is its step."""
    loaded = re.search(r"Vectorized<(\w+)>::loadu\([^,]*, (\d+)\)", line)
    size = SIZES.get(loaded[1]) if loaded else None
    if not loaded or not size or not used:
        return ""
    lanes = cpu_vec_isa.pick_vec_isa().bit_width() // 8 // size
    return f"{loaded[2]} of {lanes} lanes" if used < lanes else ""


def plain_indices(line: str) -> str:
    """Leaves out what a reader does not need: the casts of indices, the namespace."""
    line = line.replace("static_cast<int64_t>", "")
    line = re.sub(r"(?<![\w>])\((\w+)\)", r"\1", line)
    line = re.sub(r"\[\(([^\[\]]*)\)\]", r"[\1]", line)
    return re.sub(r"\b(\d+)L\b", r"\1", line).replace("at::vec::", "")


def indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def where(origin: dict[str, Any], lanes: bool) -> dict[str, Any] | None:
    """Returns {"operator", "kind", "function", "file", "line", "source"}; None for a function without source."""
    function = inspect.unwrap(origin["function"])
    name = function.__name__
    if (handler := pointwise_handler(function)) is not None:
        owner = code_generator(lanes)
        if (found := inspect.getattr_static(owner, handler, None)) is None:
            return None
        function = inspect.unwrap(getattr(found, "__func__", found))
        name = function.__qualname__
        origin = {**origin, "kind": "code generation"}
    elif "<locals>" in function.__qualname__:  # one of many that a factory makes, whose place says nothing
        return None
    try:
        file = Path(inspect.getsourcefile(function) or "").relative_to(TORCH)
        lines, line = inspect.getsourcelines(function)
    except (OSError, TypeError, ValueError):
        return None
    is_shown = origin["kind"] == "decomposition" and len(lines) <= MOST_SOURCE
    source = textwrap.dedent("".join(lines)).strip() if is_shown else ""
    return {**origin, "function": name, "file": str(file), "line": line, "source": source}


def passes_named(name: str) -> list[dict[str, Any]]:
    """The pass of TorchInductor over FX graphs whose function has that name, or replaces what a pattern of it finds."""
    for path, module in list(sys.modules.items()):
        function = getattr(module, name, None) if name and path.startswith("torch._inductor.fx_passes") else None
        if inspect.isfunction(function) and function.__module__ == path:
            found = where({"operator": name, "kind": "pass", "function": function}, lanes=False)
            return [found] if found else []
    return []


def pointwise_handler(function: Callable[..., Any]) -> str | None:
    """Returns "sinh" for a lowering that is nothing but a call of that in what writes the code; else None."""
    if "make_pointwise" not in function.__qualname__:
        return None
    inner: Any = inspect.getclosurevars(function).nonlocals.get("fn")
    if "ops_wrapper" not in getattr(inner, "__qualname__", ""):
        return None
    return str(inspect.getclosurevars(inner).nonlocals["name"])


class Called(TorchDispatchMode):
    """Notes the operators that are called in eager, and their first arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: dict[Any, tuple[Any, Any]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operators.setdefault(func, copy.deepcopy((args, kwargs or {})))
        return func(*args, **(kwargs or {}))


def with_helpers(name: str, function: Callable[..., Any], arguments: tuple[Any, Any]) -> str:
    """Returns "upsample_nearest2d > _compute_upsample_nearest_indices": the functions of its file that a function calls
    for these arguments, after its own name."""
    plain: Any = inspect.unwrap(function)
    names: dict[str, None] = {name: None}

    def note(frame: types.FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename == plain.__code__.co_filename:
            if getattr(plain.__globals__.get(code.co_name), "__code__", None) is code:
                names[code.co_name] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function(*arguments[0], **arguments[1])
    except Exception:  # what it has called until then is known
        pass
    finally:
        sys.setprofile(before)
    return " > ".join(list(names)[: MOST_HELPERS + 1])


def decompositions_of(eager: explanation.Side, arguments: list[Any]) -> list[dict[str, Any]]:
    """Where PyTorch has the decompositions, of kind "core decomposition", that AOTAutograd may use for a program."""
    called = Called()

    def run(*given: Any) -> Any:
        with called:
            return eager.run(*given)

    explanation.Side(run, eager.state).outcome(arguments)
    table = torch._decomp.decomposition_table
    origins = []
    for operator, given in called.operators.items():
        function = table.get(operator)
        origin = {"operator": str(operator), "kind": "core decomposition", "function": function}
        if function is not None and (found := where(origin, lanes=False)):
            origins.append({**found, "function": with_helpers(found["function"], function, given)})
    return origins if len(origins) <= MOST_ORIGINS else []


def code_generator(lanes: bool) -> type:
    from torch._inductor.codegen import cpp

    return cpp.CppVecOverrides if lanes else cpp.CppOverrides  # type: ignore[no-any-return]


def of_program(repro: Any, program: Any, again: Any) -> dict[str, Any] | None:
    """`repro` is an emit.Repro, `program` the candidate.Program of the same program, which is compiled here for the
    first time, and `again` another, which is compiled to note what its kernels compute. That is shown if it gives the
    same."""
    given = [value for _, value in repro.arguments]
    of_gradients = bool(repro.facts.get("of_gradients"))
    side, other = (explanation.Side(each.call, list(each.state.values()), of_gradients) for each in (program, again))
    try:
        with Watch() as watch:
            found = side.outcome(given)
        shown = watch.shown()
        if shown["language"] == "cpp" and shown["code"]:
            with kernel_values.Noting() as noting, Watch() as noted:
                is_same = explanation.same(other.outcome(given), found)
            if is_same:
                shown = noted.shown(noting.kernels)
        shown["origins"] += passes_named(repro.facts.get("guilty_pass", ""))
        return shown
    except Exception:  # another PyTorch may keep this elsewhere
        return None
