"""A program that torch.compile left behind: repro.py, minifier_launcher.py, a checkpoint, fx_graph_runnable.

Each defines a module and load_args, and hands both to run_repro: of after_aot, of after_dynamo. It is run as it is, but
for that function, which only notes what it is given, and its entries of torch's configurations, which are set one by
one, as another version of PyTorch may lack some.
"""

import ast
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch._dynamo.config
import torch._functorch.config
import torch._inductor.config
import torch._inductor.inductor_prims
from torch._dynamo.debug_utils import InputReader
from torch._dynamo.repro import after_aot, after_dynamo
from torch._prims_common import make_contiguous_strides_for

from absent import Given, numbers, sentence, symbols_of, without_absent_calls
from loaded import Loaded
from refused import Refused
from unregistered import refusal, refuse_unregistered

INDUCTOR = "torch._inductor.config"
CONFIGS = (INDUCTOR, "torch._dynamo.config", "torch._functorch.config", "torch.fx.experimental._config")
# Entries that no result depends on: where files lie, and what a compilation keeps or says of itself.
INDIFFERENT = re.compile(
    r"^trace\.|((?<!l1_)cache|caches)$|remote_cache|cache_(dir|config|precompile)|cacheable|skip_cache|worker_log"
    r"|log_?path|logging|log_tlparse|log_final|store_cubin|debug_dir_root|compile_threads|repro_|data_ptr"
)


class Reader(InputReader):
    """Reads the inputs, from `save_dir` or drawn at random, onto the CPU if their device is not here. Counts tensors
    that were `saved` and `drawn`. Raises Refused for an input that is no tensor or number."""

    def __init__(self, save_dir: str | None) -> None:
        super().__init__(save_dir=save_dir)
        self.saved = self.drawn = 0
        self.moved = False
        self.opaque_values = 0

    def storage(self, storage_hash: Any, nbytes: int, *, device: Any = None, dtype_hint: Any = None) -> Any:
        if device is not None and torch.device(device).type == "cuda" and not torch.cuda.is_available():
            device, self.moved = torch.device("cpu"), True
        place = Path(self.store.loc) / "storages" / str(storage_hash) if self.store and storage_hash else None
        if place and place.exists():
            self.saved += 1
            return torch.load(place, weights_only=True, map_location=device or "cpu")._untyped_storage
        self.drawn += 1
        return super().storage(None, nbytes, device=device, dtype_hint=dtype_hint)

    def generator(self, device_type: str, device_index: int) -> Any:
        raise Refused("is given a random generator, which TorchScript cannot be")

    def unsupported(self, name: str) -> None:
        raise Refused(f"is given {name}, which its file does not say how to make")

    def opaque(self, script_class_name: str) -> None:
        raise Refused(f"is given a {script_class_name}, which its file does not say how to make")


def config_entry(statement: ast.stmt) -> tuple[str, str, Any] | None:
    """(module, key, value) of `torch._inductor.config.cpp.simdlen = 1`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = ast.unparse(statement.targets[0])
    for module in CONFIGS:
        if target.startswith(module + "."):
            try:
                return module, target[len(module) + 1 :], ast.literal_eval(statement.value)
            except ValueError:
                return None
    return None


def without_config(tree: ast.Module) -> list[tuple[str, str, Any]]:
    """Takes the entries out of the program."""
    entries, rest = [], []
    for statement in tree.body:
        entry = config_entry(statement)
        if entry:
            entries.append(entry)
        else:
            rest.append(statement)
    tree.body = rest
    return entries


def config_words(entries: list[tuple[str, str, Any]], loaded: Loaded) -> None:
    """Puts the entries that differ from this PyTorch's defaults into `loaded`: of TorchInductor as KEY=VALUE, as
    --inductor-config takes them, and a note on each other one."""
    for module_name, key, value in entries:
        module = importlib.import_module(module_name)
        try:
            usual = attrgetter(key)(module)
        except AttributeError:
            loaded.notes.append(f"{module_name}.{key}: torch {torch.__version__} has no such entry")
            continue
        if usual == value or INDIFFERENT.search(key):
            continue
        if module_name == INDUCTOR:
            loaded.inductor_config.append(f"{key}={value if isinstance(value, str) else repr(value)}")
        else:
            loaded.notes.append(f"{module_name}.{key} = {value!r} is not taken over")


@dataclass(eq=False)
class Captured(Exception):
    """Raised in the place of run_repro, with all that it is given."""

    module: torch.nn.Module
    load_args: Callable[[InputReader], None]
    words: dict[str, Any]  # of run_repro
    after: str  # "aot" or "dynamo"
    grad: bool  # True if gradients are enabled


def run_until_captured(tree: ast.Module, path: str) -> Captured:
    """Runs the program up to its call of run_repro. Raises Refused if it raises before, or makes no such call."""

    def capture_after(after: str) -> Callable[..., None]:
        def capture(module: Any, load_args: Any, *_: Any, **words: Any) -> None:
            raise Captured(module, load_args, words, after, torch.is_grad_enabled())

        return capture

    main = type(sys)("__main__")
    main.__file__ = path
    with (
        mock.patch.object(after_aot, "run_repro", capture_after("aot")),
        mock.patch.object(after_dynamo, "run_repro", capture_after("dynamo")),
        mock.patch.dict(sys.modules, {"__main__": main}),
        mock.patch.dict(os.environ),
    ):
        try:
            exec(compile(tree, path if path.endswith(".py") else "<program>", "exec"), main.__dict__)
        except Captured as captured:
            return captured
        except (Exception, SystemExit) as error:
            text = " ".join(str(error).split())[:300]
            raise Refused(f"the program itself ends with {type(error).__name__}: {text}") from error
    raise Refused("is a Python program, but none that torch.compile left behind: it does not call run_repro")


def folder_of_data(path: str, words: dict[str, Any]) -> str | None:
    """Returns the folder with the saved inputs: as the program names it, or beside the program; None: there is none."""
    here = Path(path).resolve().parent
    for folder in (words.get("save_dir"), here / "checkpoints", here):
        if folder and (Path(folder) / "storages").is_dir():
            return str(folder)
    return None


def say_what_was_read(reader: Reader, seed: int, loaded: Loaded) -> None:
    drawn = f"drawn as PyTorch draws them (seed {seed}), as the file has none"
    if reader.drawn == 0:
        loaded.data = "the data that was saved beside it"
    elif reader.saved == 0:
        loaded.data = drawn
    else:
        loaded.data = f"the data that was saved beside it for {reader.saved} inputs; {reader.drawn} are {drawn}"
    if reader.moved:
        loaded.notes.append("cuda is not here: the CPU takes its place")


def parsed(text: str) -> ast.Module:
    """Parses the program. Raises Refused for what is no Python."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        if "= <lambda>()" in (error.text or ""):
            raise Refused(
                f"lacks its nested graphs (the branches of a cond, the body of a loop): line {error.lineno} names one "
                "that PyTorch before 2.15 does not write; save the model with torch.export.save, or take it from 2.15"
            ) from error
        raise Refused(f"is no Python program: line {error.lineno}: {error.msg}") from error
    except (MemoryError, RecursionError, ValueError) as error:
        raise Refused(f"is no Python program that can be read: too deep or long ({type(error).__name__})") from error


def with_what_is_here(tree: ast.Module, path: str, annotated: str) -> tuple[Captured, list[Given]]:
    """Runs the program, and again without the calls of operators that are not here, whose results are then arguments
    after the others. Raises Refused where `annotated` does not say what those are."""
    captured = run_until_captured(tree, path)  # what it registers itself is there now
    given = without_absent_calls(tree, annotated)
    refuse_unregistered([ast.unparse(tree)])  # which has no comments
    return (run_until_captured(tree, path) if given else captured), given


def draw(given: Given, reader: Reader, symbols: dict[str, int]) -> str:
    """Adds it to the arguments. Returns a sentence that says so."""
    try:
        sizes = numbers(given.sizes, symbols)
        strides = numbers(given.strides, symbols) if given.strides else make_contiguous_strides_for(sizes)
    except ValueError as error:
        raise refusal(given.operator, True) from error
    needed = 1 + sum(stride * (size - 1) for size, stride in zip(sizes, strides))
    storage = reader.storage(None, needed * given.dtype.itemsize, dtype_hint=given.dtype)
    reader.tensor(storage, sizes, strides, dtype=given.dtype, is_leaf=True)
    said: str = sentence(given.name, given.operator, given.dtype, sizes)
    return said


def read(text: str, path: str, seed: int, annotated: str = "") -> Loaded:
    """Runs the program with this text, which lies at `path`, and returns its module and inputs. `annotated` is the
    source of its graph with dtype and sizes of each value. Raises Refused."""
    tree = parsed(text)
    loaded = Loaded(torch.nn.Module(), ())
    entries = without_config(tree)
    config_words(entries, loaded)
    captured, given = with_what_is_here(tree, path, annotated)
    reader = Reader(folder_of_data(path, captured.words))
    torch.manual_seed(seed)
    captured.load_args(reader)
    loaded.module, loaded.grad = captured.module, captured.grad
    loaded.names = list(inspect.signature(loaded.module.forward).parameters)
    symbols = symbols_of(annotated, loaded.names, reader.args)
    loaded.notes += [draw(each, reader, symbols) for each in given]
    loaded.args = tuple(reader.args)
    say_what_was_read(reader, seed, loaded)
    for name, value in zip(loaded.names, loaded.args):
        if isinstance(value, int) and not isinstance(value, bool):
            loaded.dynamic.append(f"{name} = {value}")
    if captured.after == "aot":
        loaded.notes.append("it was taken behind AOTAutograd: what goes wrong before is in none of its calls")
    if captured.words.get("autocast"):
        loaded.notes.append("it was compiled under autocast: --autocast gives that")
    if (backend := captured.words.get("backend", "inductor")) != "inductor":
        loaded.notes.append(f"it was compiled by {backend}, here it is by what --backend says")
    return loaded
