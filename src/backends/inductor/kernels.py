"""How a child compiles: several kernels at once and beside what writes them, each under its name once it is whole, none
twice that the compiler has refused nor further than to what is wrong with it, and no graph twice."""

import contextlib
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import torch
import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config
from torch._inductor import codecache, cpp_builder
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.codegen.wrapper import PythonWrapperCodegen
from torch._inductor.cpp_builder import CppBuilder
from torch._inductor.exc import CppCompileError

import stub_libraries
from failure import has_compilers_verdict


def compile_side_by_side():
    """Compiles several kernels at once, as TorchInductor does, but in threads: its processes would outlive this one."""
    AsyncCompile.use_process_pool = classmethod(lambda _: False)
    AsyncCompile.warm_pool = classmethod(lambda _: None)
    inductor_config.compile_threads = len(os.sched_getaffinity(0))


def compile_as_they_are_written():
    """TorchInductor writes all kernels of a graph, then compiles them. By the time that it asks for one, its compiler
    is at work, or through."""
    define = PythonWrapperCodegen.define_kernel

    def define_and_compile(wrapper, name, body, *more, **also):
        define(wrapper, name, body, *more, **also)
        if inductor_config.compile_threads > 1 and body.startswith("async_compile.cpp_pybinding("):
            with contextlib.suppress(Exception):  # raised again where the kernel is used
                eval(body, {"async_compile": AsyncCompile()})  # as the module does that they are written into

    PythonWrapperCodegen.define_kernel = define_and_compile


def compile_no_graph_twice():
    """PyTorch's own caches, which users have too, in the private folder of this run: a cut that takes nothing out is
    the same graph to TorchInductor, and seconds of its Python. The sources of torch are the same all along."""
    inductor_config.fx_graph_cache = True
    functorch_config.enable_autograd_cache = True
    with contextlib.suppress(AttributeError, RuntimeError):  # it has read the sources already
        codecache.torch_key.set(torch.__version__.encode())


@contextlib.contextmanager
def wrapper_beside_kernels():
    """AOTInductor compiles its wrapper, six seconds of torch's headers, then the kernels, then links both."""
    build, wrappers = CppBuilder.build, []

    def build_beside(builder):
        target = builder.get_target_file_path()
        if target.endswith(".wrapper.o"):
            wrappers.append(pool.submit(build, builder))
            return
        if not target.endswith(".o"):
            while wrappers:
                wrappers.pop().result()
        build(builder)

    with ThreadPoolExecutor() as pool, mock.patch.object(CppBuilder, "build", build_beside):
        yield


def compile_once():
    """A kernel that compiles is compiled once: its file is there. One that the compiler finds fault with has no file,
    and was compiled again by each child that met it; what was said of it lies in the place of the file."""
    build = CppBuilder.build

    def build_once(builder):
        if getattr(builder, "_preprocessing", False):
            return build(builder)
        if getattr(builder, "_precompiling", False):
            return build_whole(builder)
        refusal = Path(builder.get_target_file_path() + ".refused")
        if refusal.exists():
            raise CppCompileError(*json.loads(refusal.read_text()))
        with contextlib.suppress(AttributeError):  # another PyTorch's builder: linked as it links
            stub_libraries.link_to(builder, os.environ["TORCHINDUCTOR_CACHE_DIR"])
        try:
            return build_whole(builder, and_no_further())
        except CppCompileError as error:
            if has_compilers_verdict(str(error)):
                with contextlib.suppress(OSError):  # no room: the next one asks the compiler
                    write_whole(refusal, json.dumps([error.cmd, error.output]).encode())
            raise

    def build_whole(builder, more=""):
        """Any child may be killed at any moment, and the next one loads the file that is there."""
        target = builder.get_target_file_path()
        partial = f"{target}.{os.getpid()}"
        command = builder.get_command_line().replace(f" -o {target}", f" -o {partial}") + more
        builder.get_command_line = lambda: command
        build(builder)
        with contextlib.suppress(FileNotFoundError):  # what is no compiler writes nothing
            os.rename(partial, target)

    CppBuilder.build = build_once


def and_no_further():
    """Than to the first fault, which is the one that is told (failure.py). GCC would go on to all the templates that
    the precompiled header leaves for the end of the file: ten times what it took so far."""
    return " -Wfatal-errors" if cpp_builder.is_gcc() or cpp_builder.is_clang() else ""


def write_whole(path, content):
    """Under its name there is all of it or nothing."""
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    with open(descriptor, "wb") as file:
        file.write(content)
    os.rename(name, path)
