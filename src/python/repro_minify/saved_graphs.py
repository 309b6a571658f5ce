"""The graphs that Dynamo makes of a model, as programs in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .apart import apart
from .errors import CannotTrace, ReproMinifyError
from .graph_program import save_graph
from .graphs import Graphs, graphs_of
from .original import how_of
from .registered import lines_for, modules_for
from .saving import as_callable, given_arguments


@dataclass(frozen=True)
class SavedGraphs:
    programs: tuple[Path, ...] = ()  # that another process can run
    imports: tuple[str, ...] = ()  # the modules that it has to import for them, as --import takes them
    refused: tuple[str, ...] = ()  # a sentence for each of the others
    problem: str = ""  # how the graphs, run in eager, differ from the model


def written(graphs: Graphs, folder: Path, grad: bool) -> SavedGraphs:
    """Writes program.py, program-2.py and so on, each with its data beside it."""
    programs, refused = [], []
    imports: list[str] = []
    for number, graph in enumerate(graphs, start=1):
        path = folder / f"program{'' if number == 1 else f'-{number}'}.py"
        try:
            needed = modules_for(graph.module, folder)
            problem = save_graph(graph, path, grad, lines_for(needed))
        except CannotTrace as error:
            problem = str(error)
        if problem:
            refused.append(f"graph {number}: {problem}")
        else:
            programs.append(path)
            imports += [module for module in needed if module not in imports]
    return SavedGraphs(tuple(programs), tuple(imports), tuple(refused), graphs.problem)


def save_graphs(model: Any, inputs: Any, folder: Path, options: Mapping[str, Any]) -> SavedGraphs:
    """Captures the graphs of the model given to minify() in a process apart. Nothing is saved where that fails."""
    how = how_of(options)
    folder.mkdir(parents=True, exist_ok=True)

    def work() -> SavedGraphs:
        args, kwargs = given_arguments(model, inputs)
        graphs = graphs_of(as_callable(model), args, kwargs, how.grad, how.autocast, bool(how.dynamic))
        return written(graphs, folder, how.grad)

    try:
        return apart(work)
    except ReproMinifyError as error:
        return SavedGraphs(refused=(str(error),))
