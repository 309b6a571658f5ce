"""The whole job: from a model that a backend gets wrong to a minimal repro."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from .command import is_path, words_of
from .checking import verdict_of, with_finer_tolerance
from .errors import BadInput, CannotTrace, DoesNotFail, ReproMinifyError, files_of_user
from .options import MinifyOptions, Texts
from .program import raise_for, run
from .result import Result, result_in

if TYPE_CHECKING:
    from .original import Original

Asked = tuple[Any, Any, str, Path, MinifyOptions]  # model, inputs, backend, folder of what is reduced, options
WRITTEN = (0, 4)  # verified, and not verified: the files are there
ENDS = ("exception", "crash", "hang", "memory")  # kinds of failure that leave nothing to be compared


def free_folder(stem: Path) -> Path:
    """Returns STEM.repro, or the first of STEM-2.repro and so on that does not exist. Makes its folder of what was
    reduced, so that another process takes another."""
    for number in itertools.count(1):
        folder = stem.with_name(f"{stem.name}{'' if number == 1 else f'-{number}'}.repro")
        if not folder.exists():
            with contextlib.suppress(FileExistsError):
                folder_of_failing(folder).mkdir(parents=True)
                return folder
    raise AssertionError


def folder_of_failing(output: Path) -> Path:
    """Returns the folder of what was reduced, which lies beside the results, not in them."""
    return output.with_name(output.name.removesuffix(".repro") + ".failing")


def reduce(words: list[str], quiet: bool) -> Result:
    """Runs the program with these words. Returns what it wrote; raises the error of its exit code."""
    ended = run(words, show=not quiet)
    if ended.code not in WRITTEN:
        raise_for(ended)
    return result_in(Path(ended.output.strip().splitlines()[-1]).parent)


def minify(model: Any, inputs: Any = None, backend: str = "inductor", **options: Unpack[MinifyOptions]) -> Result:
    """Reduces a model that `backend` gets wrong, writes the repro, and builds and runs it.

    `model` is a torch.nn.Module, a function, a ScriptModule, an ExportedProgram, a GraphModule, or the path of an
    archive; `inputs` the arguments of a call: a tensor, a tuple, a dict by names, or (args, kwargs). The other options
    are those of the command line. Results go to `output`, by default a new folder NAME.repro, with what was reduced
    beside it in NAME.failing; for a path they lie beside it, as from the command line.

    For inductor the model is run in eager and under torch.compile first, as its user does. Where that fails, the graphs
    that Dynamo makes of it are reduced (program.py in NAME.failing); where none of them fails, or the model does not,
    its trace is. A trace that passes where the model fails is tried with Dynamo in front of Inductor, and if it passes
    there too DoesNotFail has `original`. So it has where the trace raises and the model gives another result, or the
    other way around: that is another failure than the user's.

    Raises DoesNotFail, BadInput, EagerNotReproducible, InternalError, CannotStart, with the program's sentence.
    """
    options = cast(MinifyOptions, {name: value for name, value in options.items() if value is not None})
    quiet = bool(options.get("quiet"))
    if is_path(model) and (inputs is None or is_path(inputs)):
        return reduce_program((model, inputs, backend, Path(), options), quiet)
    if "output" not in options and options.get("resume"):
        raise BadInput("resume=True: give output, the folder of the run that is to go on")
    from .saving import settings_of_device  # it imports torch

    own = {} if is_path(model) else settings_of_device(model, inputs)
    with files_of_user():
        output = Path(os.fspath(options["output"])) if "output" in options else free_folder(Path(stem_of(model)))
    if not output.name:
        raise BadInput(f'output="{output}": give a folder with a name; what is reduced is written beside it')
    failing = folder_of_failing(output)
    existed = "output" in options and failing.exists()
    if existed and not (options.get("force") or options.get("resume")):
        raise BadInput(f"{failing}: exists; give another output, or force=True to write into it")
    given = cast(MinifyOptions, {**own, **options, "output": output})
    asked = (model, inputs, backend, failing, given)
    try:
        with files_of_user():
            return reduce_model(asked, quiet)
    except ReproMinifyError as error:
        begun = (output / "journal.jsonl").exists()  # a run that can go on needs its model
        if not existed and not begun and not getattr(error, "graphs", ()):  # nothing came of it
            shutil.rmtree(failing, ignore_errors=True)
            error.args = (str(error).replace(str(failing / "failing.pt"), stem_of(model)),)  # no file that is gone
        raise


def minify_all(model: Any, inputs: Any = None, backend: str = "inductor",
               **options: Unpack[MinifyOptions]) -> list[Result]:  # fmt: skip
    """Reduces all failures of a model: once one is reduced, what it needs is taken out, and the rest is reduced.

    Takes what minify() takes, and raises what it raises where the model does not fail. Of a model that Dynamo makes
    several graphs of, the failures are those of the first graph that has any. The results have a folder each, in the
    order in which they were found; index.html beside them shows all.
    """
    last = minify(model, inputs, backend, **cast(MinifyOptions, {**options, "all": True}))
    series = last.folder.parent
    failures = json.loads((series / "failures.json").read_text())["failures"]
    return [result_in(series / failure["folder"]) for failure in failures]


def reduce_model(asked: Asked, quiet: bool) -> Result:
    """Reduces the graphs that Dynamo makes of the model, where it fails under torch.compile; else, or where none of
    them does, its trace."""
    model, inputs, backend, failing, options = asked
    if is_path(model):
        return reduce_program(asked, quiet)
    from .original import no_result_in_eager, original_of, through_dynamo, untraced  # it imports torch

    failing.mkdir(parents=True, exist_ok=True)
    original = original_of(*asked)
    if original is not None and original.accepts:
        raise no_result_in_eager(model, original)
    refused: list[str] = []
    # A finer rule may see what PyTorch's lets pass.
    if original is not None and not original.unknown and (original or "compare" in options):
        result, refused = reduce_graphs(asked, original, quiet)
        if result:
            return result
    try:
        words = words_of(model, inputs, backend, options, failing)
    except CannotTrace as error:
        both = untraced(error, model, original)
        both.args = (with_reasons(str(both), refused),)
        raise both from error.__cause__
    if original:
        require_same_end(failing, backend, options, original)
    try:
        return reduce(words, quiet)
    except DoesNotFail as error:
        if original is not None and original.unknown:
            unsure = DoesNotFail(f"{error}; whether the model itself fails is not known: {original.unknown}")
            unsure.original = original
            raise unsure from error
        if not original:
            raise
        if more := through_dynamo(options):
            with contextlib.suppress(DoesNotFail):
                return reduce([*words, *more], quiet)
        original = original_of(*asked) or original  # failing.pt is there now, and says which operators it lacks
        both = DoesNotFail(with_reasons(f"{error}; but {original}", refused))
        both.original = original
        raise both from error


def with_reasons(sentence: str, refused: list[str]) -> str:
    """The sentence, and those of graphs that could not be asked, if they say something else."""
    return "; ".join([sentence, *(each for each in refused if each not in sentence)])


def require_same_end(failing: Path, backend: str, options: MinifyOptions, original: Original) -> None:
    """Raises DoesNotFail where the trace fails in another way than the model, of which it then says nothing."""
    verdict = verdict_of(failing / "failing.pt", failing / "inputs.pt", backend, options)
    if verdict.failed and (verdict.kind in ENDS) != original.ends:
        found = f"{verdict.kind}: {verdict.message.splitlines()[0]}"
        other = DoesNotFail(f"{failing / 'failing.pt'}: its trace has another failure ({found}); {original}")
        other.original = original
        raise other


def reduce_graphs(asked: Asked, original: Original, quiet: bool) -> tuple[Result | None, list[str]]:
    """Reduces the first graph that fails. Returns None if none does, and sentences on those that could not be asked.

    Raises DoesNotFail where Dynamo captured them wrongly.
    """
    model, inputs, backend, failing, options = asked
    from .saved_graphs import save_graphs  # it imports torch

    saved = save_graphs(model, inputs, failing, options)
    if saved.problem:
        wrong = DoesNotFail(
            f"Dynamo captured it wrongly: its graphs in eager differ from the model in eager ({saved.problem}), "
            f"which is no fault of a backend (label module: dynamo); the graphs are in {failing}"
        )
        wrong.original, wrong.graphs = original, saved.programs
        raise wrong
    refused = list(saved.refused)
    if saved.imports:
        options = cast(MinifyOptions, {**options, "imports": with_found(options.get("imports", ()), saved.imports)})
    if original.whole_numbers and "compare" not in options:
        options = cast(MinifyOptions, {**options, "compare": "close"})
    for program in saved.programs:
        with contextlib.suppress(DoesNotFail):
            try:
                return reduce_program((program, None, backend, failing, options), quiet), refused
            except BadInput as error:
                refused.append(str(error))
    for program in saved.programs if options.get("grad") else ():
        with contextlib.suppress(DoesNotFail, BadInput):
            verdict = verdict_of(program, None, backend, options)
            if with_finer_tolerance(program, backend, options, verdict):
                finer = cast(MinifyOptions, {**options, "tol": verdict.sum_tolerance})
                return reduce_program((program, None, backend, failing, finer), quiet), refused
    return None, refused


def reduce_program(asked: Asked, quiet: bool) -> Result:
    """Reduces the program at a path, under dynamic sizes only where it does not fail without."""
    program, inputs, backend, failing, options = asked
    static = without_dynamic(options)
    if static != options:
        with contextlib.suppress(DoesNotFail):
            return reduce(words_of(program, inputs, backend, static, failing), quiet)
    return reduce(words_of(program, inputs, backend, options, failing), quiet)


def without_dynamic(options: MinifyOptions) -> MinifyOptions:
    """The same options with static sizes: what fails so too needs no dynamic ones."""
    config = options.get("inductor_config", ())
    if isinstance(config, Mapping):
        config = {key: value for key, value in config.items() if key != "dynamic"}
    else:
        config = [text for text in ([config] if isinstance(config, str) else config) if not text.startswith("dynamic=")]
    rest = {key: value for key, value in options.items() if key not in ("dynamic", "inductor_config")}
    return cast(MinifyOptions, {**rest, **({"inductor_config": config} if "inductor_config" in options else {})})


def with_found(given: Texts, found: tuple[str, ...]) -> list[str]:
    """The modules that the user names, and those that were found: the last parts of their names tell them apart."""
    named = [given] if isinstance(given, str) else list(given)
    known = {Path(one).stem if one.endswith(".py") else one for one in named}
    return named + [one for one in found if (Path(one).stem if one.endswith(".py") else one) not in known]


def stem_of(model: Any) -> str:
    if is_path(model):
        return str(Path(model).with_suffix(""))
    from .saving import name_of  # it imports torch

    return name_of(model)
