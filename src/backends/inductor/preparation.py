"""The work that the warm parent does once, so that no child has to: its settings made, its header built."""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from unittest import mock

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # the parent must not touch CUDA: its children could not

import torch
import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config
from torch._inductor import codecache
from torch._inductor.cpp_builder import CppBuilder

import entries
import kept_headers
import lent_probes
import processor
import stub_libraries
from forks import Later, in_a_fork


class Enough(Exception):
    """Raised to end a compilation once what was wanted of it has been built."""


@contextlib.contextmanager
def no_device_used():
    """Whatever is compiled, Dynamo keeps the state of CUDA's generators, fake tensors ask for a guard of the device
    where none is found, and TorchInductor asks whether Triton is of use on it. A process that has used CUDA has no
    children that can: here PyTorch finds no device and looks for none, and each child asks anew."""
    import torch.utils._triton

    none_here = mock.patch.object(torch.cuda, "is_available", return_value=False)
    never_used = mock.patch.object(torch._C, "_cuda_init", side_effect=Enough("CUDA is for the children"), create=True)
    no_guard = mock.patch.object(torch._C, "_ensureCUDADeviceGuardSet", create=True)
    with none_here, never_used, no_guard:
        yield
    for found_out in vars(torch.utils._triton).values():
        if hasattr(found_out, "cache_clear"):
            found_out.cache_clear()


def prepare(folder, given):
    """Makes what every child inherits. Nothing here may start a thread: a fork copies only the one that forks."""
    prepared = Preparation(folder, given)
    prepared.finish()
    prepared.warm_up_if_cold()


class Preparation:
    """In two steps, so that the compiler is at work while the rest of TorchInductor is imported."""

    @no_device_used()
    def __init__(self, folder, given):
        entries.check_entries(given)
        torch.set_num_threads(1)
        self.folder = folder
        self.kept = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR", folder))
        self.kept_headers = self.kept / "headers"
        self.headers = Path(getattr(codecache, "_HEADER_DIR", self.kept_headers))
        make_no_header_that_is_kept(self.kept_headers)
        self.header_names = Path(folder) / "header_names"
        self.header_maker = in_a_fork(self.make_header)
        in_a_fork(lambda: stub_libraries.make(folder))

    def make_header(self):
        """For the processor as it will be found to be: the answer takes as long as the header. Where it was another,
        or PyTorch asks for another header, that one is made later."""
        use_folder(self.folder)
        with processor.believed(), only_headers_built(), headers_named_in(self.header_names):
            codecache.CppPythonBindingsCodeCache.load_pybinding(["float*"], 'extern "C" void kernel(float*) {}')

    @no_device_used()
    def finish(self):
        """Candidates can be compiled from here on. Where the header has long been there, the rest of the warming up is
        left for when the first candidate is compiled."""
        with processor.asked_in_forks():
            as_believed = processor.settle(entries.configured)
            lends = "TMPDIR" in os.environ  # else it is anybody's
            if lends:
                lent_probes.lend(self.kept, self.headers.parent)
            self.rest = Later(lambda: self.ask_the_rest(lends))
        use_folder(self.folder)
        inductor_config.fallback_random = True  # the numbers that eager draws
        still_made = os.waitpid(self.header_maker, os.WNOHANG)[0] == 0
        if still_made:
            with without_the_header():  # what else there is to it takes no longer
                warm_up()
            os.waitpid(self.header_maker, 0)
        found = know_headers_named_in(self.header_names)
        if not (as_believed and found):  # another header, or none yet
            warm_up()
        self.is_warm = still_made or not (as_believed and found)
        kept_headers.keep(self.headers, self.kept_headers)

    def warm_up_if_cold(self):
        if not self.is_warm:
            warm_up()
            self.is_warm = True

    def ask_the_rest(self, lends):
        """The interpreters that run repro.py ask all that PyTorch asks. They come after the search."""
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        processor.ask_all()
        if lends:
            lent_probes.lend(self.kept, self.headers.parent)


class WithoutHeaders:
    """The preparation for what is not compiled by TorchInductor."""

    @no_device_used()
    def __init__(self, folder, given):
        torch.set_num_threads(1)
        use_folder(folder)
        os.environ.setdefault("TMPDIR", folder)
        os.environ["HOME"] = folder  # some write there as they are imported
        entries.check_entries(given)
        if entries.recipe_in_use:
            with contextlib.redirect_stdout(io.StringIO()):
                entries.recipe_in_use.prepare()
        self.rest = self

    def begin(self):
        pass

    def finish(self):
        pass

    def warm_up_if_cold(self):
        pass


def preparation_for(folder, given):
    """`given` are KEY=VALUE; the header that TorchInductor's kernels share is made where they are what is compiled."""
    keys = dict(entry.partition("=")[::2] for entry in given)
    uses_inductor = keys.get("backend", "inductor") == "inductor" and keys.get("recipe", "aotinductor") == "aotinductor"
    return (Preparation if uses_inductor else WithoutHeaders)(folder, given)


def use_folder(folder):
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.environ["TRITON_HOME"] = folder
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
    tempfile.tempdir = folder
    inductor_config.compile_threads = 1
    inductor_config.fx_graph_cache = False
    functorch_config.enable_autograd_cache = False


@no_device_used()
def warm_up():
    """TorchInductor imports and prepares much when it first compiles."""
    import torch._dynamo

    module = torch.compile(lambda x: torch.ops.aten.amin.default(torch.ops.aten.mul.Tensor(x, x)))
    # The candidates will tell of an exception.
    with torch.no_grad(), only_headers_built(), contextlib.suppress(Exception):
        module(torch.ones(16))
    torch._dynamo.reset()


def make_no_header_that_is_kept(store):
    build = CppBuilder.build

    def build_unless_kept(builder):
        is_header = getattr(builder, "_precompiling", False)
        if not (is_header and kept_headers.bring(store, Path(builder.get_target_file_path()))):
            build(builder)

    CppBuilder.build = build_unless_kept


@contextlib.contextmanager
def only_headers_built():
    """The header that all kernels share is compiled in advance unless PyTorch has kept it; the first kernel itself
    tells nothing that is worth the wait."""
    build = CppBuilder.build

    def build_headers(builder):
        if not (getattr(builder, "_precompiling", True) or getattr(builder, "_preprocessing", True)):
            raise Enough
        return build(builder)

    with mock.patch.object(CppBuilder, "build", build_headers):
        yield


@contextlib.contextmanager
def headers_named_in(file):
    """Writes to the file what PyTorch calls each header that is asked for, which it finds out with a compiler."""
    find_out, names = getattr(codecache, "_precompile_header", None), {}

    def write_down(*what, **how):
        names[asked_for(what, how)] = name = find_out(*what, **how)
        file.write_text(json.dumps(names))
        return name

    with mock.patch.object(codecache, "_precompile_header", write_down, create=True):
        yield


def know_headers_named_in(file):
    """Takes the names of headers from the file rather than from a compiler. True if it names any."""
    find_out = getattr(codecache, "_precompile_header", None)
    names = json.loads(file.read_text()) if file.exists() else {}

    def precompile(*what, **how):
        return names.get(asked_for(what, how)) or find_out(*what, **how)

    codecache._precompile_header = precompile
    return bool(names)


def asked_for(what, how):
    return repr((what, sorted((key, str(value)) for key, value in how.items())))


def without_the_header():
    return mock.patch.object(codecache, "_precompile_header", side_effect=Enough, create=True)
