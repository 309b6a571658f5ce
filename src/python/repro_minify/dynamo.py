"""torch.compile(model, backend="repro_minify"): every graph that Dynamo hands over is checked before it is used.

A graph is checked on its first call, by one start of the program (`run --backend inductor`), and then compiled with
Inductor here. The first that fails is kept and minified; it and the ones after it run in eager.
"""

import atexit
import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch._guards import TracingContext, tracing

from .checking import check
from .errors import ReproMinifyError
from .minifying import minify
from .options import CheckOptions, MinifyOptions
from .result import Result
from .verdict import Verdict

log = logging.getLogger("repro_minify")


class GraphFails(ReproMinifyError):
    """With on_failure="raise": a graph that Dynamo handed over fails."""


@dataclass
class Report:
    """What became of the graphs of this process so far."""

    graphs: int = 0  # that Dynamo handed over
    same: int = 0
    unchecked: int = 0  # the log says why
    failed: int | None = None  # the number of the first that fails, from 1
    model: Path | None = None  # its failing.pt
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


def report() -> Report:
    return _report


def reset() -> None:
    """Starts counting again, and looks for a first failure again."""
    global _report
    _report = Report()


@atexit.register
def say_of_how_many() -> None:
    """How many graphs there are is known when the user's program has ended."""
    if _report.failed is not None:
        log.warning("%s", _report)


def with_gradients(graph: torch.fx.GraphModule) -> bool:
    """Whether some result leads back to something that wants a gradient, as Dynamo has recorded it."""
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


class CheckedGraph:
    """Stands for one graph: checks it on its first call, and then is what Inductor made of it."""

    def __init__(self, graph: torch.fx.GraphModule, examples: Sequence[Any], mode: str | None, options: dict[str, Any]):
        _report.graphs += 1
        self.number = _report.graphs
        self.graph, self.examples, self.mode = graph, examples, mode
        self.raises = options.pop("on_failure", "eager") == "raise"
        self.options = options
        self.context = TracingContext.try_get()
        self.run: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        if self.run is None:
            self.run = self.graph if _report.failed is not None or self.fails(args) else self.compiled()
        return self.run(*args)

    def compiled(self) -> Callable[..., Any]:
        """After the check, as a compiler may crash; where Dynamo was, for shapes that are symbols."""
        patches = torch._inductor.list_mode_options(self.mode) if self.mode else None
        from torch._inductor.compile_fx import compile_fx

        with tracing(self.context):
            return cast(Callable[..., Any], compile_fx(self.graph, self.examples, config_patches=patches))

    def fails(self, args: Sequence[Any]) -> bool:
        options = {**surroundings(self.graph, args), **self.options}
        if self.mode:
            options["inductor_config"] = [f"mode={self.mode}"]
        folder = Path(tempfile.mkdtemp(prefix="repro-minify-"))
        started = time.monotonic()
        try:
            verdict = self.checked(args, folder, options)
            if verdict and verdict.failed:
                self.keep(folder, verdict, options)
        finally:
            _report.seconds += time.monotonic() - started
            shutil.rmtree(folder, ignore_errors=True)
        return verdict is not None and verdict.failed

    def checked(self, args: Sequence[Any], folder: Path, options: Mapping[str, Any]) -> Verdict | None:
        """None where nothing can be said, which is no reason to stop the user's program."""
        from .saving import save_failing

        try:
            saved = save_failing(self.graph, tuple(args), folder)
            known = CheckOptions.__annotations__
            chosen = cast(CheckOptions, {name: value for name, value in options.items() if name in known})
            chosen.setdefault("timing", False)  # nobody is shown the times, which take as long as the check
            verdict = check(saved.model, saved.inputs, "inductor", **chosen)
        except ReproMinifyError as error:
            _report.unchecked += 1
            log.warning("graph %d is not checked: %s", self.number, error)
            return None
        if not verdict.failed:
            _report.same += 1
            log.info("graph %d: same under Inductor", self.number)
        return verdict

    def keep(self, folder: Path, verdict: Verdict, options: dict[str, Any]) -> None:
        """The failing graph, and what it reduces to, in a folder of the user's."""
        place = free_place(Path(options.pop("output", f"graph-{self.number}")))
        shutil.copytree(folder, place)
        _report.failed, _report.model, _report.verdict = self.number, place / "failing.pt", verdict
        which = f"graph {self.number} (of {_report.graphs} so far) fails under Inductor: {verdict}"
        log.warning("%s", which)
        try:
            _report.result = minify(_report.model, None, "inductor", **cast(MinifyOptions, options))
            said = f"{_report.result.repro}\n{_report.result.program}"
        except ReproMinifyError as error:
            said = f"{_report.model}, which was not minified: {error}"
        if self.raises:
            raise GraphFails(f"{which}\n{said}")
        log.warning("graph %d is minified in %s", self.number, said)


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
    """What torch.compile calls, found by the entry point `repro_minify` of the group `torch_dynamo_backends`.

    `options` are those of the command line, and `on_failure`: "eager" (a graph that fails runs in eager, and the
    program goes on) or "raise" (GraphFails).
    """
    return CheckedGraph(graph, examples, mode, dict(options or {}))
