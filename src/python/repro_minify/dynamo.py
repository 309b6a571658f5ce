"""torch.compile(model, backend="repro_minify"): every graph that Dynamo hands over is checked before it is used.

A graph is written as a program of torch.fx, every call as Dynamo has it, with the arguments of its first call. That is
checked by one start of the program (`run --backend inductor`), and the graph then compiled with Inductor here, whatever
became of the check. The first that fails is kept, and minified when Python ends; it and the ones after it run in eager.
"""

import atexit
import contextlib
import functools
import logging
import os
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch._dynamo.convert_frame import preserve_global_state
from torch._guards import TracingContext, tracing

from .apart import apart
from .checking import verdict_of, with_finer_tolerance
from .errors import BadInput, ReproMinifyError, first_line
from .graph_program import save_graph
from .graphs import Graph
from .minifying import minify, with_found
from .options import KNOWN, MinifyOptions, arguments_of
from .original import how_of
from .registered import lines_for, modules_for
from .result import Result
from .verdict import Verdict

log = logging.getLogger("repro_minify")
PROGRAM = "program.py"


class GraphFails(ReproMinifyError):
    """With on_failure="raise": a graph that Dynamo handed over fails."""


@dataclass
class Report:
    """Says what became of the graphs of this process so far."""

    graphs: int = 0  # that Dynamo handed over
    same: int = 0
    unchecked: int = 0  # the log says why
    failed: int | None = None  # the number of the first that fails, from 1
    model: Path | None = None  # its program.py
    verdict: Verdict | None = None
    result: Result | None = None  # None where it could not be minified
    seconds: float = 0.0  # that checks took

    def __str__(self) -> str:
        counts = f"{self.graphs} graphs: {self.same} same, {self.unchecked} not checked, {self.seconds:.1f} s of checks"
        if self.failed is None:
            return counts
        repro = self.result.repro if self.result else self.model
        return f"graph {self.failed} of {self.graphs} fails: {repro}; {counts}"


_report = Report()
_one_at_a_time = threading.RLock()  # first calls
_later: list[Callable[[], object]] = []  # what is to be minified when Python ends


def report() -> Report:
    return _report


def reset() -> None:
    """Starts counting again, and looks for a first failure again. What waits for the end of Python is given up."""
    global _report
    _report = Report()
    _later.clear()


def at_end_of(process: int) -> None:
    """How many graphs there are is known when the user's program has ended. A forked child has nothing to say."""
    if os.getpid() != process:
        return
    while _later:
        with contextlib.suppress(KeyboardInterrupt):  # the best so far is there, and said where
            _later.pop()()
    if _report.failed is not None:
        log.warning("%s", _report)


atexit.register(at_end_of, os.getpid())


def with_gradients(graph: torch.fx.GraphModule) -> bool:
    """True if gradients are enabled and Dynamo has recorded a result that requires one."""
    if not torch.is_grad_enabled():
        return False
    results = next(node for node in graph.graph.nodes if node.op == "output").all_input_nodes
    return any(getattr(node.meta.get("example_value"), "requires_grad", False) for node in results)


def surroundings(graph: torch.fx.GraphModule, args: Sequence[Any]) -> dict[str, Any]:
    """Options that say how the user runs it."""
    devices = [str(arg.device) for arg in args if isinstance(arg, torch.Tensor) and arg.is_cuda]
    kind = "cuda" if devices else "cpu"
    autocast = torch.is_autocast_enabled(kind)
    found: dict[str, Any] = {"grad": with_gradients(graph), "autocast": autocast}
    if devices:
        found["device"] = devices[0]
    if autocast:
        found["autocast_dtype"] = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
    return found


def written(graph: Graph, program: Path, grad: bool) -> tuple[str, tuple[str, ...]]:
    """Returns why another process cannot run it, or an empty text, and the modules that it has to import for it."""
    modules = modules_for(graph.module, program.parent)
    return save_graph(graph, program, grad, lines_for(modules)), tuple(modules)


class CheckedGraph:
    """Stands for one graph: checks it on its first call, and then is what Inductor made of it."""

    def __init__(self, graph: torch.fx.GraphModule, examples: Sequence[Any], mode: str | None, options: dict[str, Any]):
        _report.graphs += 1
        self.number = _report.graphs
        self.graph, self.examples, self.mode = graph, examples, mode
        on_failure = options.pop("on_failure", "eager")
        if on_failure not in ("eager", "raise"):
            raise BadInput(f'on_failure={on_failure!r}: give "eager" or "raise"')
        self.raises = on_failure == "raise"
        self.minify = options.pop("minify", "now" if self.raises else "exit")
        if self.minify not in ("exit", "now", False):
            raise BadInput(f'minify={self.minify!r}: give "exit", "now" or False')
        if unknown := options.keys() - KNOWN:
            raise BadInput(f"{min(unknown)}: no option of repro-minify")
        self.options = options
        self.context = TracingContext.try_get()
        self.run: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        if self.run is None:
            with _one_at_a_time:
                if self.run is None:
                    self.run = self.graph if _report.failed is not None or self.fails(args) else self.compiled()
        return self.run(*args)

    def compiled(self) -> Callable[..., Any]:
        """After the check, as a compiler may crash; where Dynamo was (symbols), and with what Dynamo keeps as it is."""
        how = how_of(self.options)
        mode = self.mode or how.mode
        patches = {**(torch._inductor.list_mode_options(mode) if mode else {}), **how.config}
        from torch._inductor.compile_fx import compile_fx

        with tracing(self.context):
            return cast(
                Callable[..., Any],
                preserve_global_state(compile_fx)(self.graph, self.examples, config_patches=patches or None),
            )

    def fails(self, args: Sequence[Any]) -> bool:
        """False too where nothing can be said, which is no reason to stop the user's program."""
        started = time.monotonic()
        try:
            verdict = self.found(args)
        except GraphFails:
            raise
        except Exception as error:
            _report.unchecked += 1
            text = str(error) if isinstance(error, ReproMinifyError) else first_line(error)
            log.warning("graph %d is not checked: %s", self.number, text)
            return False
        finally:
            _report.seconds += time.monotonic() - started
        if not verdict.failed:
            _report.same += 1
            log.info("graph %d: same under Inductor", self.number)
        return verdict.failed

    def found(self, args: Sequence[Any]) -> Verdict:
        """Checks the graph once and returns the verdict. A failing graph is kept."""
        options = {**surroundings(self.graph, args), **self.options}
        if self.mode:
            options["inductor_config"] = [f"mode={self.mode}"]
        if any(isinstance(example, torch.SymInt) for example in self.examples):
            options.setdefault("dynamic", True)
        with tempfile.TemporaryDirectory(prefix="repro-minify-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            try:
                verdict = self.checked(args, folder / PROGRAM, options)
            except ReproMinifyError as error:
                error.args = (str(error).replace(f"{folder / PROGRAM}: ", ""),)  # no file that is gone
                raise
            if verdict.failed:
                self.keep(folder, verdict, options)
        return verdict

    def checked(self, args: Sequence[Any], program: Path, options: dict[str, Any]) -> Verdict:
        """Writes the graph as a program, and checks that."""
        if any(isinstance(arg, torch._subclasses.FakeTensor) for arg in args):
            raise BadInput("it is called with fake tensors, which have no data")
        problem, modules = apart(lambda: written(Graph(self.graph, tuple(args)), program, bool(options["grad"])))
        if problem:
            raise BadInput(problem)
        if modules:
            options["imports"] = with_found(options.get("imports", ()), modules)
        verdict = verdict_of(program, None, "inductor", options)
        if verdict.failed:
            return verdict
        if finer := with_finer_tolerance(program, "inductor", options, verdict):
            options["tol"] = verdict.sum_tolerance
            return finer
        if not verdict.lets_whole_numbers_pass or {"compare", "ignore_non_fp"} & options.keys():
            return verdict
        options["compare"] = "close"  # which has no tolerance for them, as minify() has none
        return verdict_of(program, None, "inductor", options)

    def keep(self, folder: Path, verdict: Verdict, options: dict[str, Any]) -> None:
        """The failing graph in a folder of the user's; what it reduces to beside it, now or when Python ends."""
        _report.failed, _report.verdict = self.number, verdict
        which = f"graph {self.number} (of {_report.graphs} so far) fails under Inductor: {verdict}"
        log.warning("%s", which)
        place = free_place(Path(options.pop("output", f"graph-{self.number}")))
        try:
            shutil.copytree(folder, place)
        except OSError as error:
            said = f"it cannot be kept: {error}"
            log.warning("graph %d: %s", self.number, said)
        else:
            if "imports" in options:  # what was copied beside the program has moved with it
                named = with_found(options["imports"], ())
                options["imports"] = [one.replace(str(folder), str(place.absolute())) for one in named]
            _report.model = place / PROGRAM
            said = self.minified(place / PROGRAM, options)
        if self.raises:
            raise GraphFails(f"{which}\n{said}")

    def minified(self, model: Path, options: dict[str, Any]) -> str:
        """Minifies the model now, when Python ends, or not at all; returns the text that says so."""
        if self.minify == "now":
            return minify_and_say(self.number, model, options)
        if self.minify == "exit":
            place = model.absolute()  # the program may go elsewhere
            _later.append(functools.partial(minify_and_say, self.number, place, options))
            said = f"{model}; it is minified when Python ends"
        else:
            said = f"{model}; this minifies it: " + shlex.join(
                ["repro-minify", str(model), "--backend=inductor", *arguments_of(options)]
            )
        log.warning("graph %d is in %s", self.number, said)
        return said


def minify_and_say(number: int, model: Path, options: dict[str, Any]) -> str:
    try:
        result = minify(model, None, "inductor", **cast(MinifyOptions, options))
        _report.result = result
        said = f"{result.repro}\n{result.program}"
    except (ReproMinifyError, OSError) as error:
        said = f"{model}, which was not minified: {error}"
        log.warning("graph %d is in %s", number, said)
        return said
    log.warning("graph %d is minified in %s", number, said)
    return said


def free_place(place: Path) -> Path:
    """The folder itself or the first of FOLDER-2 and so on that is free."""
    number, free = 1, place
    while free.exists():
        number += 1
        free = place.with_name(f"{place.name}-{number}")
    return free


def backend(
    graph: torch.fx.GraphModule,
    examples: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """The backend that torch.compile calls, by the entry point `repro_minify` of the group `torch_dynamo_backends`.

    `options` are those of the command line, and `on_failure`: "eager" (a graph that fails runs in eager, and the
    program goes on) or "raise" (GraphFails); `minify`: "exit" (the first that fails is minified when Python ends),
    "now" (before the program goes on), or False.
    """
    return CheckedGraph(graph, examples, mode, dict(options or {}))
