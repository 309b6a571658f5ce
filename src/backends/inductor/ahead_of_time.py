"""A program compiled ahead of time by AOTInductor, which repro.cpp loads."""

import json
import re
import zipfile

import torch
import torch._inductor

import entries
import kernels
from failure import first_sentence

REGISTERED_BY_PYTHON = re.compile(r"^debug: registered at .*\.py:\d+$", re.MULTILINE)


def compiled_for_once():
    """To precompile the headers takes longer than to read them."""
    name = "aot_inductor.precompile_headers"
    return {name: False} if name in torch._inductor.config.get_config_copy() else {}


def ahead_of_time(repro, path):
    """Compiles the program with AOTInductor into `path`; an empty string if the result fails in the same way, else why
    it is no use."""
    module = getattr(repro, "module", None)
    if module is None:
        return "its calls are functions of Python"
    if entries.compile_options:
        return "it is compiled with options that only torch.compile takes"
    arguments = [tensor for _, tensor in repro.arguments]
    clones = tuple(tensor.detach().clone() for tensor in arguments)
    try:
        with torch.no_grad():
            expected = leaves(module(*clones))
            exported = torch.export.export(module, clones, strict=False)
            with kernels.wrapper_beside_kernels():
                torch._inductor.aoti_compile_and_package(
                    exported, package_path=path, inductor_configs=compiled_for_once()
                )
            found = leaves(torch._inductor.aoti_load_package(path)(*arguments))
    except Exception as error:
        return "compiling ahead of time raises: " + first_sentence(error)
    if name := operator_of_python(path):
        return f"C++ has no {name}"
    kind, how = repro.facts["kind"], repro.facts["differs"]
    if any(differs(e, f, kind, how) for e, f in zip(expected, found)):
        return ""
    return "compiled ahead of time it is right"


def operator_of_python(path):
    """Returns the first operator called by the package at `path` that Python registers; None if there is none."""
    with zipfile.ZipFile(path) as package:
        files = [json.loads(package.read(name)) for name in package.namelist() if name.endswith(".json")]
    names = [node["node"]["target"] for file in files for node in file.get("nodes", ())]
    return next((name for name in names if REGISTERED_BY_PYTHON.search(torch._C._dispatch_dump(name))), None)


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return leaves(list(value.values())) if isinstance(value, dict) else [value]


def differs(expected, found, kind, how):
    """True if two results differ by the rule in force: Predicate of repro/repro_py.h."""
    if not isinstance(expected, torch.Tensor) or not isinstance(found, torch.Tensor):
        return False
    if kind in ("dtype", "shape"):
        return getattr(expected, kind) != getattr(found, kind)
    if how["floating_only"] and not expected.is_floating_point() and not expected.is_complex():
        return False
    if expected.is_complex():
        expected, found = torch.view_as_real(expected), torch.view_as_real(found)
    return DIFFER[how["form"]](expected, found, how)


def not_close(expected, found, how):
    if not how["as_it_is"]:
        expected, found = expected.double(), found.double()
    pair = (found, expected) if how["relative_to_expected"] else (expected, found)
    return not torch.allclose(*pair, rtol=how["rtol"], atol=how["atol"], equal_nan=how["equal_nan"])


def in_other_places(expected, found, how):
    """NaN and Inf alone count."""
    expected, found = (torch.where(x.isfinite(), 0.0, x) for x in (expected.double(), found.double()))
    return not torch.allclose(expected, found, rtol=0, atol=0, equal_nan=True)


def in_bits(expected, found, how):
    same = (expected == found) & (expected.signbit() == found.signbit())
    return not (same | (expected.isnan() & found.isnan())).all().item()


def as_whole_numbers(expected, found, how):
    return not expected.is_floating_point() and not torch.equal(expected, found)


def in_direction(expected, found, how):
    expected, found = expected.flatten().float(), found.flatten().float()
    if torch.allclose(expected, found, rtol=how["rtol"], atol=how["atol"], equal_nan=True):
        return False
    return not torch.nn.functional.cosine_similarity(expected, found, dim=0, eps=1e-6) >= how["limit"]


def in_overlap(expected, found, how):
    if expected.dtype != torch.bool or found.dtype != torch.bool:
        return False
    both, either = (expected & found).sum().item(), (expected | found).sum().item()
    return either > 0 and both / either < how["limit"]


def in_root_mean_square(expected, found, how):
    error = torch.nan_to_num(expected.double() - found.double(), 0, 0, 0)
    return error.numel() > 0 and error.square().mean().sqrt().item() > how["limit"]


def in_some_element(expected, found, how):
    bound = expected.double().abs().clamp_min(1) * how["rtol"] + how["limit"]
    return ((found.double() - expected.double()).abs() > bound).any().item()


DIFFER = {
    "close": not_close, "places": in_other_places, "exact": in_bits, "equal": as_whole_numbers,
    "direction": in_direction, "overlap": in_overlap, "rms": in_root_mean_square, "bound": in_some_element,
}  # fmt: skip
