"""The options of the command line, by the same names: `--only-fwd` is `only_fwd=True`. `repro-minify -h` explains."""

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

Texts = str | Sequence[str]
CHOICES = ("ablation", "autocast", "equal_nan", "timing")  # on, off, or left to the program: False says --no-...


class SharedOptions(TypedDict, total=False):
    """The options of both check() and minify(). One that is not given is as the program has it."""

    input: Texts
    graph: int
    load_library: Texts
    imports: Texts
    method: str
    grad: bool
    only_fwd: bool
    train: bool
    check: Literal["accuracy", "run"]
    device: str
    autocast: bool | None
    autocast_dtype: Literal["bfloat16", "float16"]
    deterministic: Literal["off", "warn", "on"]
    tf32: bool
    require_fp64: bool
    repeat: int
    need: int
    seed: int
    calls: int
    threads: int
    timeout: float
    memory_limit: str
    require_confinement: bool
    compare: Literal["default", "pytorch", "strict", "close", "exact"]
    tol: float
    equal_nan: bool | None
    ignore_non_fp: bool
    no_exact_dtype: bool
    cos_similarity: bool
    use_larger_multiplier_for_smaller_tensor: bool
    force_max_multiplier: bool
    use_iou_for_bool: bool
    iou_threshold: float
    python: str | os.PathLike[str]
    python_of: Texts | Mapping[str, object]
    backend_option: Texts | Mapping[str, object]
    inductor_config: Texts | Mapping[str, object]
    dynamic: bool
    skip_stage: Texts
    dump_stage: Texts
    emulate_precision_casts: bool
    inject: Literal["relu-compile-error", "relu-runtime-error", "relu-accuracy", "relu-internal-error"]
    config: str | os.PathLike[str]
    verbose: bool
    quiet: bool


class CheckOptions(SharedOptions, total=False):
    """The options of check()."""

    timing: bool | None


class MinifyOptions(SharedOptions, total=False):
    """The options of minify()."""

    output: str | os.PathLike[str]
    force: bool
    same_failure: Literal["strict", "kind", "any"]
    jobs: int
    oracle: str | os.PathLike[str]
    resume: bool
    time_budget: float
    passes: Texts
    skip_pass: Texts
    no_verify: bool
    ablation: bool
    anonymous: bool
    since: Texts
    no_bisect: bool


KNOWN = {*CheckOptions.__annotations__, *MinifyOptions.__annotations__}


def text_of(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)


def texts_of(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}={text_of(each)}" for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [text_of(each) for each in value]
    return [text_of(value)]


def arguments_of(options: Mapping[str, object]) -> list[str]:
    """The words of the command line. A name that the program does not know is left for it to refuse."""
    words = []
    for name, value in options.items():
        if name == "dynamic":
            words += [f"--inductor-config=dynamic={text_of(value)}"] if value is not None else []
            continue
        option = "import" if name == "imports" else name.replace("_", "-")
        if value is True:
            words.append(f"--{option}")
        elif value is False and name in CHOICES:
            words.append(f"--no-{option}")
        elif value is False and name not in KNOWN:
            words.append(f"--{option}")  # to be refused: verify=False is no_verify=True
        elif value is not None and value is not False:
            words += [f"--{option}={text}" for text in texts_of(value)]
    return words
