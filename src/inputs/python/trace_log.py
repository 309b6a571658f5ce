"""The graphs in a TORCH_TRACE log, or in the folder that tlparse makes of one.

A log has a line of JSON for each event (`V1123 01:03:48.174000 7858 torch/...py:1315] {...}`); what belongs to it
follows, each line behind a tab.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RECORD = re.compile(r"^[VDIWEC]\d{4} [\d:.]+ \d+ \S+\] (\{.*)$")
ARTEFACT = "fx_graph_runnable"
# The same graph for people, which follows it: `relu: "f32[4, 8][8, 1]cpu" = ...`.
ANNOTATED = "before_post_grad_graph"


@dataclass
class Graph:
    name: str  # of the compilation: "0/0", frame and recompilation
    text: str
    annotated: str = ""  # the same graph with dtype and sizes of each value, where the log has it


def name_of(record: dict[str, object]) -> str:
    frame, compiled, attempt = (record.get(key) for key in ("frame_id", "frame_compile_id", "attempt"))
    if frame is None:
        return "?"
    return f"{frame}/{compiled}" + (f" attempt {attempt}" if attempt else "")


def texts_of_log(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yields kind, name of the compilation and text of the graphs in the order of the log."""
    kind, name, lines = "", "", list[str]()
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("\t"):
                if kind:
                    lines.append(line[1:])
                continue
            if kind:
                yield kind, name, "".join(lines)
            kind, lines = next((each for each in (ARTEFACT, ANNOTATED) if f'"{each}"' in line), ""), []
            match = RECORD.match(line) if kind else None
            try:
                name = name_of(json.loads(match[1])) if match else ""
            except (ValueError, RecursionError):
                name = ""
            if not name:
                kind = ""
    if kind:
        yield kind, name, "".join(lines)


def graphs_of_log(path: Path) -> list[Graph]:
    found: list[Graph] = []
    for kind, name, text in texts_of_log(path):
        if kind == ARTEFACT:
            found.append(Graph(name, text))
        elif found and found[-1].name == name and not found[-1].annotated:
            found[-1].annotated = text
    return found


def order(path: Path) -> tuple[list[int], str]:
    """Returns a key that sorts paths by their numbers: `-_0_10_0/fx_graph_runnable_12.txt` comes after `-_0_9_0`."""
    return [int(number) for number in re.findall(r"\d+", path.parent.name + path.name)], str(path)


def is_log(name: str) -> bool:
    return name == "raw.log" or name.startswith("dedicated_log_")


def graphs_of_folder(folder: Path) -> list[Graph]:
    """Returns the graphs that tlparse wrote; else those in its raw.log or in the logs of a TORCH_TRACE folder."""
    patterns = (f"*/*{ARTEFACT}*", f"*{ARTEFACT}*")
    files, beside = (sorted((path for path in folder.glob(each) if path.is_file()), key=order) for each in patterns)
    files = files or beside
    if files:
        return [Graph(name_in(path), text_of(path), annotated_beside(path)) for path in files]
    logs = sorted(path for path in folder.iterdir() if path.is_file() and is_log(path.name))
    return [graph for path in logs for graph in graphs_of_log(path)]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def annotated_beside(path: Path) -> str:
    """Returns the text of the first file of the kind ANNOTATED that tlparse wrote after this one."""
    files = sorted((each for each in path.parent.glob(f"{ANNOTATED}*") if each.is_file()), key=order)
    return next((text_of(each) for each in files if order(each) > order(path)), "")


def name_in(path: Path) -> str:
    """Returns "0/0", frame and recompilation, for a graph in tlparse's folder `-_0_0_0` or `0_0_0`."""
    numbers = re.findall(r"\d+", path.parent.name)
    return "/".join(numbers[:2]) if len(numbers) >= 2 else path.name


def graphs(path: Path) -> list[Graph]:
    return graphs_of_folder(path) if path.is_dir() else graphs_of_log(path)
