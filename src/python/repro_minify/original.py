"""The model itself under torch.compile, asked where what it was traced to passes: a trace may lose the failure."""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .apart import Crashed, apart
from .command import is_path
from .draws import drawn, draws_otherwise
from .errors import BadInput, CannotTrace, DoesNotFail, ReproMinifyError, first_line
from .inputs import Arguments, arguments_of_call
from .saving import as_callable, given_arguments, name_of
from .tracing import SEED, copies, leaves_of, without_traces

OF_DYNAMO = {"suppress_errors": False, "disable": False}  # entries of torch._dynamo.config: what fails is to be seen
OF_COMPILE = ("mode", "dynamic", "fullgraph", "backend", "frontend")  # keys that are not of torch._inductor.config


@dataclass(frozen=True)
class Original:
    problem: str  # how the model differs from eager under torch.compile, by PyTorch's own rule; empty if it does not
    lost: tuple[str, ...]  # operators that it calls in eager and its trace does not
    whole_numbers: bool = False  # what differs are whole numbers, which `--compare close` alone takes for a failure
    ends: bool = False  # it raises or crashes, in the place of another result
    accepts: str = ""  # what eager raises where torch.compile gives a result
    unknown: str = ""  # why it is not known whether it fails

    def __bool__(self) -> bool:
        """True if it fails."""
        return bool(self.problem)

    def __str__(self) -> str:
        lost = f"; its trace has no {', '.join(self.lost)}" if self.lost else ""
        return f"the model itself fails under torch.compile: {self.problem}{lost}"


class Called(TorchDispatchMode):
    """Collects the names of the operators that are called, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func._schema.name)
        return func(*args, **(kwargs or {}))


class Wide(Called):
    """Makes float64 of what is made in another floating-point dtype, a cast to float16 for one: of the rounding that a
    program asks for the reference has none, as in a check."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if draws_otherwise(func) and kwargs.get("dtype") != torch.float64:  # which is the user's own
            self.names.append(func._schema.name)
            return drawn(func, args, kwargs)
        if isinstance(dtype := kwargs.get("dtype"), torch.dtype) and dtype.is_floating_point:
            kwargs = {**kwargs, "dtype": torch.float64}
        return super().__torch_dispatch__(func, types, args, kwargs)


def tensors_in(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in leaves_of(value) if isinstance(leaf, torch.Tensor)]


def require_tensors(result: Any) -> None:
    """Raises ReproMinifyError for what holds no tensors that could be found: an object of a class that says nothing."""
    for leaf in leaves_of(result):
        if leaf is not None and not isinstance(leaf, (torch.Tensor, bool, int, float, complex, str, torch.Size)):
            raise ReproMinifyError(f"it returns {type(leaf).__name__}, of which nothing can be compared")


@dataclass(frozen=True)
class How:
    """How the model is run: what the options of check() and minify() say of it."""

    grad: bool
    autocast: torch.dtype | None
    mode: str | None = None  # of torch.compile
    dynamic: bool | None = None
    config: Mapping[str, Any] = field(default_factory=dict)  # entries of torch._inductor.config
    tolerance: float | None = None  # None: PyTorch's own
    only_results: bool = False  # neither buffers nor what is left in the inputs
    ignores_whole_numbers: bool = False
    only_runs: bool = False  # nothing is compared


def parsed(value: Any) -> Any:
    """Returns a value of inductor_config that is given as text as the worker's entries.py reads it."""
    if not isinstance(value, str):
        return value
    words = {"true": True, "false": False, "none": None}
    try:
        return words[value.lower()] if value.lower() in words else ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def how_of(options: Mapping[str, Any]) -> How:
    given = options.get("inductor_config") or ()
    entries = dict(given) if isinstance(given, Mapping) else {}
    for text in [given] if isinstance(given, str) else given if not entries else ():
        key, _, value = text.partition("=")
        entries[key] = value
    entries = {key: parsed(value) for key, value in entries.items()}
    dtype = getattr(torch, options.get("autocast_dtype") or "bfloat16") if options.get("autocast") else None
    config = {key: value for key, value in entries.items() if key not in OF_COMPILE}
    grad = bool(options.get("grad")) and not options.get("only_fwd")
    dynamic = options.get("dynamic", entries.get("dynamic"))
    return How(
        grad,
        dtype,
        entries.get("mode"),
        dynamic,
        config,
        tolerance=options.get("tol"),
        only_results=bool(options.get("only_fwd")),
        ignores_whole_numbers=bool(options.get("ignore_non_fp")),
        only_runs=options.get("check") == "run",
    )


def ran(call: Callable[..., Any], arguments: Arguments, how: How, compiled: bool = False) -> list[torch.Tensor]:
    """Results, what is left in the inputs and buffers, and gradients. Unless `compiled` all of it runs in eager."""
    try:
        args, kwargs = copies(arguments)
    except Exception as error:
        raise ReproMinifyError(f"its inputs cannot be copied: {first_line(error)}") from error
    leaves = [x for x in tensors_in((args, kwargs)) if how.grad and x.is_floating_point()]
    for leaf in leaves:
        leaf.requires_grad_()
    given = (args, kwargs)
    if leaves:  # what requires a gradient may not be written to: the model is given what was made of it
        given = pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) and x.requires_grad else x, given)
    device = next((x.device.type for x in tensors_in(given)), "cpu")
    casts = torch.autocast(device, how.autocast) if how.autocast else contextlib.nullcontext()
    with without_traces(call):  # until gradients are there: what it puts back may be needed for them
        stance = torch.compiler.set_stance("default") if compiled else contextlib.nullcontext()
        with torch.set_grad_enabled(how.grad), casts, stance:
            torch.manual_seed(SEED)
            result = call(*given[0], **given[1])
            if not (results := tensors_in(result)):
                require_tensors(result)
        buffers = [] if how.only_results else list(getattr(call, "buffers", tuple)())
        left = [] if how.only_results else tensors_in(given)
        found = [x.detach() for x in [*results, *left, *buffers]]
        if buffers:  # they are put back, and a result may be one
            found = [x.clone() for x in found]
        sources = [x for x in results if x.requires_grad]
        wanted = [*leaves, *(p for p in getattr(call, "parameters", tuple)() if p.requires_grad)]
        if sources and wanted:
            gradients = torch.autograd.grad(sources, wanted, [torch.ones_like(x) for x in sources], allow_unused=True)
            found += [x for x in gradients if x is not None]
    return found


def in_float64(
    call: Callable[..., Any], arguments: Arguments, how: How, wide_mode: Wide | None = None
) -> list[torch.Tensor] | None:
    memories: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def wide(value: Any) -> Any:
        """Seen in the same memory in the same way: an as_strided reads between the elements too. A small part of a
        large memory is copied alone."""
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        memory = value.untyped_storage() if value.layout == torch.strided else None
        if memory is None or memory.nbytes() > 16 * value.nbytes:
            return value.double()
        if (key := (memory.data_ptr(), value.dtype)) not in memories:
            memories[key] = value.detach().as_strided((memory.nbytes() // value.itemsize,), (1,), 0).double()
        return memories[key].as_strided(value.shape, value.stride(), value.storage_offset())

    try:
        other = copy.deepcopy(call).double() if isinstance(call, torch.nn.Module) else call
        given = pytree.tree_map(wide, arguments)
        with wide_mode or Wide():
            return ran(other, given, How(how.grad, None, None, only_results=how.only_results))
    except Exception:
        return None  # then eager alone is asked, as PyTorch does


def reference(
    call: Callable[..., Any], arguments: Arguments, how: How, expected: list[torch.Tensor]
) -> list[torch.Tensor] | None:
    """Returns what float64 gives; None where it gives nothing, or is far from eager because the model, which reads its
    dtypes, calls other operators in float64: then both errors would be large, and any result would pass."""
    wide_mode = Wide()
    exact = in_float64(call, arguments, how, wide_mode)
    if exact is None or all(is_near(a, b) for a, b in zip(expected, exact, strict=False)):
        return exact
    with Called() as called:
        ran(call, arguments, how)
    same_operators = without_casts(called.names) == without_casts(wide_mode.names)
    return exact if same_operators else None


def is_near(expected: torch.Tensor, exact: torch.Tensor) -> bool:
    if expected.shape != exact.shape:
        return False
    dtype = torch.promote_types(expected.dtype, exact.dtype)
    tolerance = torch._dynamo.config.repro_tolerance
    return bool(torch.allclose(expected.to(dtype), exact.to(dtype), rtol=tolerance, atol=tolerance, equal_nan=True))


def without_casts(names: list[str]) -> list[str]:
    """The names without those of casts: one that gives the dtype that is there calls nothing."""
    return [name for name in names if name != "aten::_to_copy"]


def difference(
    expected: list[torch.Tensor],
    found: list[torch.Tensor],
    exact: list[torch.Tensor] | None,
    how: How = How(grad=False, autocast=None),  # noqa: B008  (it is frozen)
) -> str:
    """Returns what differs by the rule of PyTorch's own minifier, which takes what is nearer to float64 for right; an
    empty string if nothing does, or nothing is to be compared."""
    from torch._dynamo.utils import same

    if how.only_runs:
        return ""
    if len(expected) != len(found):
        return f"{len(found)} values, in eager {len(expected)}"
    references = exact if exact and len(exact) == len(expected) else [None] * len(expected)
    for i, (a, b, reference) in enumerate(zip(expected, found, references, strict=True), start=1):
        said: list[str] = []

        def note(message: str, *words: Any, said: list[str] = said) -> None:
            said.append(message % words if words else message)

        if a.shape != b.shape:
            return f"value {i} has the shape {list(b.shape)}, in eager {list(a.shape)}"
        if has_other_nans(a, b, reference):
            return f"value {i} is another (NaN is in other places)"
        tolerance = how.tolerance or torch._dynamo.config.repro_tolerance
        if how.ignores_whole_numbers and not (a.is_floating_point() or a.is_complex()):
            continue
        if not same(a, b, reference, tol=tolerance, equal_nan=True, exact_dtype=True, log_error=note):
            return f"value {i} is another" + (f" ({' '.join(said[0].split())[:200]})" if said else "")
    return "" if how.ignores_whole_numbers else whole_numbers_differ(expected, found)


def has_other_nans(expected: torch.Tensor, found: torch.Tensor, exact: torch.Tensor | None) -> bool:
    """True if eager and float64 agree where NaN is, and the result does not: a single NaN makes both errors NaN, and
    then PyTorch's rule lets anything pass."""
    if exact is None or not expected.is_floating_point() or not expected.shape == found.shape == exact.shape:
        return False
    nans = exact.isnan()
    return torch.equal(expected.isnan(), nans) and not torch.equal(found.isnan(), nans)


class Raised(str):
    """Says what is raised, where nothing is compared."""


class Accepted(str):
    """Says what eager raises, where torch.compile gives a result."""


class WholeNumbers(str):
    """Says which value of whole numbers is another, where no other value is."""


def whole_numbers_differ(expected: list[torch.Tensor], found: list[torch.Tensor]) -> str:
    """Returns which value of whole numbers or bools differs at all: their rule is that of floating-point numbers, which
    gives a large one a tolerance, and no rounding explains it."""
    for i, (a, b) in enumerate(zip(expected, found, strict=True), start=1):
        if not a.is_floating_point() and not a.is_complex() and not torch.equal(a, b):
            return WholeNumbers(f"value {i} is another, of whole numbers, which PyTorch's rule lets pass")
    return ""


def lacks_compiler(error: BaseException | None) -> bool:
    """True if the error comes of a machine without a C++ compiler, which says nothing of the model."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        error = getattr(error, "inner_exception", None) or error.__cause__
    return any(type(one).__name__ == "InvalidCxxCompiler" for one in seen)


def problem_of(call: Callable[..., Any], arguments: Arguments, how: How) -> str:
    """Returns how it fails; empty where it does not. Raises ReproMinifyError where eager is not sure of itself, or
    raises what torch.compile raises as well."""
    import torch._inductor.config

    expected, again, refusal = [], [], ""
    try:
        expected, again = (ran(call, arguments, how) for _ in range(2))
    except ReproMinifyError:
        raise
    except Exception as error:
        refusal = first_line(error)
    if not refusal and (unsure := difference(expected, again, None, how)):
        raise ReproMinifyError(f"two eager runs differ: {unsure}")
    # Where eager gives nothing to compare with, numbers may be drawn by operators that take what eager's refuse.
    config = {"fallback_random": not refusal, "compile_threads": 1, **how.config}
    if unknown := [key for key in config if key not in torch._inductor.config._config]:
        raise ReproMinifyError(f"torch._inductor.config has no entry {unknown[0]}")
    torch._dynamo.reset()  # what was compiled before had other entries
    exact = functools.cache(lambda: reference(call, arguments, how, expected))
    with torch._inductor.config.patch(config), torch._dynamo.config.patch(OF_DYNAMO):
        compiled = torch.compile(call, mode=how.mode, dynamic=how.dynamic)
        for which in ("", "in its second call "):
            try:
                found = ran(compiled, arguments, how, compiled=True)
            except Exception as error:
                if lacks_compiler(error):
                    raise ReproMinifyError("torch.compile has no C++ compiler here") from error
                if refusal:
                    raise ReproMinifyError(f"eager itself raises: {refusal}") from error
                return Raised(f"{which}it raises {first_line(error)}")
            if refusal:
                return Accepted(refusal)
            if problem := difference(expected, found, None if how.only_runs else exact(), how):
                return type(problem)(which + problem)
    return ""


def operators_of(call: Callable[..., Any], arguments: Arguments) -> set[str]:
    called = Called()
    with torch.no_grad(), called:
        args, kwargs = copies(arguments)
        call(*args, **kwargs)
    return set(called.names)


def lost_in(model: Path, inputs: Path, call: Callable[..., Any], arguments: Arguments) -> tuple[str, ...]:
    """Empty too where that cannot be found out, which makes what fails no better."""
    try:
        with without_traces(call):
            wanted = operators_of(call, arguments)
        values = arguments_of_call(torch.load(inputs, weights_only=False))
        return tuple(sorted(wanted - operators_of(torch.jit.load(str(model)), values)))
    except Exception:
        return ()


def failure_of_original(
    call: Callable[..., Any], arguments: Arguments, folder: Path, options: Mapping[str, Any]
) -> Original:
    """Returns how the model itself fails under torch.compile, if it does, and which operators failing.pt in `folder`
    lacks."""

    def asked() -> Original:
        problem = problem_of(call, arguments, how_of(options))
        if not problem or isinstance(problem, Accepted):
            return Original("", (), accepts=str(problem))
        lost = lost_in(folder / "failing.pt", folder / "inputs.pt", call, arguments)
        return Original(str(problem), lost, isinstance(problem, WholeNumbers), isinstance(problem, Raised))

    try:
        return apart(asked)
    except Crashed as error:
        return Original(str(error), (), ends=True)
    except ReproMinifyError as error:
        return Original("", (), unknown=str(error))


def original_of(
    model: Any, inputs: Any, backend: str | None, folder: Path, options: Mapping[str, Any]
) -> Original | None:
    """Returns whether and how the model given to check() or minify(), and saved in `folder`, fails itself. None for a
    path and TorchScript, which are no conversions."""
    is_converted = not is_path(model) and not isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction))
    if not is_converted or backend != "inductor" or "oracle" in options:
        return None
    return failure_of_original(as_callable(model), given_arguments(model, inputs), folder, options)


def untraced(error: CannotTrace, model: Any, original: Original | None) -> ReproMinifyError:
    """Returns the error of a model that cannot be traced: with how the model itself fails under torch.compile, if it
    does; if it does not, and that is known, that it does not."""
    if original is None:
        return error
    if original.accepts:
        return no_result_in_eager(model, original)
    if original.unknown:
        return CannotTrace(f"{error}; {original.unknown}")
    if not original:
        return DoesNotFail(f"{name_of(model)}: does not fail: under torch.compile it gives the same as in eager")
    both = CannotTrace(f"{error}; {original}")
    both.original = original
    return both


def no_result_in_eager(model: Any, original: Original) -> BadInput:
    """Returns the error of a model that raises in eager and not under torch.compile."""
    return BadInput(
        f"{name_of(model)}: eager raises {original.accepts}, and under torch.compile it gives a result: what eager "
        "refuses is no longer refused. That is worth a report, but there is no result of eager's to compare with, so "
        "that nothing can be reduced"
    )


def through_dynamo(options: Mapping[str, Any]) -> list[str]:
    """The words that have Dynamo make the graph of the trace, where the options do not say who makes it."""
    return [] if "frontend" in str(options.get("inductor_config", "")) else ["--inductor-config=frontend=dynamo"]
