"""Makes an archive of other forms of a model that people have: the file that --python runs for repro-minify.

    convert.py KIND SOURCE FOLDER [--seed N] [--graph N] [--load-library FILE.so]... [--import MODULE]... [--calls]
        [--weights-inside] [--inputs FILE] [--original]

KIND is what repro-minify took SOURCE for: export, program, log. Into FOLDER go converted-N.pt, which has its inputs
inside, converted-N_inputs.pt, and answer.json: {"graphs": [...]}, one object for each graph (N from 1), with "problem"
where it could not be converted; or {"problem": ...}. It is traced to TorchScript. With --calls its calls are kept as
they are, as TorchScript that only Python can run, and its object has "dialect": "fx"; what cannot be kept so is traced.
Parameters, buffers and constants are then further inputs, and with --weights-inside attributes.
--inputs names a file of inputs for a .pt2, in the place of its own. With --original nothing is converted: answer.json
says how graph N (the first, without --graph) fails under torch.compile, {"fails": ..., "lost": [...]}, as original.py
has it.
"""

import argparse
import functools
import gc
import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
# The worker of inductor has fx_call.py: in the source tree, and where both are installed.
sys.path.append(str(Path(__file__).resolve().parents[2] / "backends" / "inductor"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "inductor"))

import trace_log

INPUTS_INSIDE = "inputs.pt"  # repro-minify looks for them there


def counted(script: Any) -> int:
    """Operators of the converted graph, for a list of graphs."""
    import torch

    graph = script.graph.copy()
    torch._C._jit_pass_inline(graph)
    return sum(1 for node in graph.nodes() if "::" in node.kind() and not node.kind().startswith("prim::"))


def converted(loaded: Any, folder: Path, number: int) -> dict[str, Any]:
    """Writes converted-N.pt; what is said of it."""
    import torch

    from agreement import copies, put_back, require_agreement
    from refused import Refused
    from traced import flat_module, traced

    flat = flat_module(loaded)
    leaves = torch.utils._pytree.tree_leaves(loaded.args)
    inputs = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
    buffers = [(buffer, buffer.detach().clone()) for buffer in flat.buffers()]
    script, notes = traced(flat, copies(inputs))
    with torch.no_grad():
        for buffer, before in buffers:
            put_back(buffer, before)
        for buffer, (_, before) in zip(script.buffers(), buffers):
            put_back(buffer, before)
    if not list(script.graph.outputs()) or flat.left_out and not returns_tensors(script):
        raise Refused("returns no tensor, so that there is nothing to compare")
    operators = counted(script)  # before it runs, and is optimised
    doubt = require_agreement(flat, script, inputs)
    save(script, inputs, folder, number)
    notes = [*loaded.notes, *notes]
    if doubt:
        notes.append(doubt)
    if flat.left_out:
        notes.append(f"{flat.left_out} of its results are no tensors, and left out")
    return {
        "data": loaded.data,
        "notes": notes,
        "dynamic": loaded.dynamic,
        "inductor_config": loaded.inductor_config,
        "operators": operators,
    }


def converted_as_fx(loaded: Any, folder: Path, number: int, weights_inside: bool) -> dict[str, Any]:
    """Writes converted-N.pt in the FX dialect; returns what converted() does."""
    import fx_graph_of
    from refused import Refused

    if loaded.only_traced:
        raise Refused(loaded.only_traced)
    made = fx_graph_of.convert(loaded, weights_inside)
    save(made.script, made.inputs, folder, number)
    left_out = f"{made.left_out} of its results are no tensors, and left out"
    return {
        "dialect": "fx",
        "data": loaded.data,
        "notes": [*loaded.notes, *made.notes, *[left_out] * bool(made.left_out)],
        "dynamic": loaded.dynamic,
        "inductor_config": loaded.inductor_config,
        "operators": sum(node.kind().startswith("fx::") for node in made.script.graph.nodes()),
    }


def returns_tensors(script: Any) -> bool:
    return any("Tensor" in str(output.type()) for output in script.graph.outputs())


def save(script: Any, inputs: tuple[Any, ...], folder: Path, number: int) -> None:
    import torch

    file = io.BytesIO()
    torch.save(tuple(x.detach().requires_grad_(x.requires_grad) for x in inputs), file)
    (folder / f"converted-{number}_inputs.pt").write_bytes(file.getvalue())
    torch.jit.save(script, folder / f"converted-{number}.pt", _extra_files={INPUTS_INSIDE: file.getvalue()})


def with_its_calls(read: Any, folder: Path, number: int, weights_inside: bool) -> dict[str, Any]:
    """Writes converted-N.pt with the calls as they are, where each has a form; else what a trace makes of them."""
    from refused import Refused

    try:
        return converted_as_fx(read(), folder, number, weights_inside)
    except Refused as refused:
        reason = str(refused)
    loaded = read()  # again, as what refused it may have changed it
    loaded.notes.append(f"it is traced to TorchScript, as its calls are not kept: {reason}")
    try:
        return converted(loaded, folder, number)
    except Exception as error:
        said = str(error) if isinstance(error, Refused) else f"raises {type(error).__name__}"
        raise Refused(f"{reason}; and traced to TorchScript, it {said}") from error


def answer_for(read: Any, folder: Path, number: int, words: argparse.Namespace) -> dict[str, Any]:
    """A graph that cannot be converted says nothing about the others."""
    from refused import Refused

    try:
        if words.calls:
            return with_its_calls(read, folder, number, words.weights_inside)
        return converted(read(), folder, number)
    except Refused as refused:
        return {"problem": str(refused)}
    except Exception as error:
        traceback.print_exc()
        text = " ".join(str(error).split())[:300]
        return {"problem": f"cannot be converted: {type(error).__name__}: {text}"}


def in_child(work: Any, folder: Path) -> dict[str, Any]:
    """Returns the result of `work` in a child process: what a program does to its process must not reach this one."""
    reply = folder / "reply.json"
    reply.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            reply.write_text(json.dumps(work()))
        finally:
            sys.stderr.flush()
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    if not reply.exists():
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
        return {"problem": f"cannot be converted: its process ended with {how}"}
    answer: dict[str, Any] = json.loads(reply.read_text())
    reply.unlink()
    return answer


def readers(words: argparse.Namespace) -> list[tuple[str, Callable[[], Any]]]:
    """The name of each graph, and what reads it."""
    import compile_program
    import exported
    import fx_program

    seed, source = words.seed, words.source
    if words.kind == "export":
        return [("", lambda: exported.read(source, seed, words.inputs))]
    if words.kind == "program":
        text = Path(source).read_text(encoding="utf-8", errors="replace")
        if fx_program.is_one(text):
            return [("", lambda: fx_program.read(text, source, seed))]
        return [("", lambda: compile_program.read(text, source, seed))]
    return [
        (graph.name, functools.partial(compile_program.read, graph.text, source, seed, graph.annotated))
        for graph in trace_log.graphs(Path(source))
    ]


def graphs_of(words: argparse.Namespace) -> list[dict[str, Any]]:
    folder, answers = Path(words.folder), []
    for number, (name, read) in enumerate(readers(words), start=1):
        if words.kind != "log":
            return [answer_for(read, folder, number, words)]
        answer: dict[str, Any] = {}
        if words.graph in (0, number):
            answer = in_child(functools.partial(answer_for, read, folder, number, words), folder)
        answers.append({"name": name, **answer})
    return answers


def answer_to(words: argparse.Namespace) -> dict[str, Any]:
    if not words.original:
        return {"graphs": graphs_of(words)}
    import original

    _, read = readers(words)[max(words.graph, 1) - 1]
    answer: dict[str, Any] = original.answer_of(read(), words.calls)
    return answer


def load_libraries(paths: list[str]) -> None:
    import torch

    for path in paths:
        torch.ops.load_library(path)


def import_modules(given: list[str]) -> None:
    import imports
    from refused import Refused

    for module in given:
        try:
            imports.import_module(module)
        except ValueError as error:
            raise Refused(str(error)) from error


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("export", "program", "log"))
    parser.add_argument("source")
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--graph", type=int, default=0)
    parser.add_argument("--load-library", action="append", default=[])
    parser.add_argument("--import", action="append", default=[])
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--weights-inside", action="store_true")
    parser.add_argument("--inputs")
    parser.add_argument("--original", action="store_true")
    words = parser.parse_args()
    gc.set_threshold(100_000)  # what imports make is not garbage, and looking through it takes a tenth of their time
    import torch

    from refused import Refused

    torch.set_num_threads(1)
    try:
        load_libraries(words.load_library)
        import_modules(getattr(words, "import"))
        answer = {**answer_to(words), "torch": torch.__version__}
    except Refused as error:
        answer = {"problem": str(error)}
    except Exception as error:
        traceback.print_exc()
        answer = {"problem": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
    (Path(words.folder) / "answer.json").write_text(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # tearing down torch takes half a second


if __name__ == "__main__":
    main()
