"""Stubs of torch's libraries, for the linker.

Of each library a kernel is linked to, the linker reads all names, tens of thousands in libtorch_cpu.so: a third of
what a small kernel takes. A library may leave names unresolved, and the kernel is loaded by a process that has torch
loaded: all that has to stand in the kernel is which libraries it needs.
"""

import contextlib
import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

from torch._inductor import cpp_builder

LARGE = ("torch", "torch_cpu", "torch_python", "torch_cuda")
FOLDER = "stub_libraries"
# Refused where this compiler's linker has been told to leave no name unresolved; then kernels may have none either.
SOURCE = "void unresolved(void);\nvoid names_it(void) { unresolved(); }\n"


def make(folder: str) -> None:
    """All or none of them, in `folder`/FOLDER. Where there are none, kernels are linked as PyTorch links them."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        made, compiler = Path(tempfile.mkdtemp(dir=folder)), cpp_builder.get_cpp_compiler()
        for name in filter(is_loaded, LARGE):
            library = f"lib{name}.so"
            command = [compiler, "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{library}"]
            subprocess.run([*command, "-x", "c", "-", "-o", str(made / library)], input=SOURCE.encode(), check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        os.rename(made, Path(folder) / FOLDER)


def is_loaded(name: str) -> bool:
    """Under the name that will stand in the kernel, so that nothing is looked for when it is loaded."""
    try:
        ctypes.CDLL(f"lib{name}.so", os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True


def link_to(builder: cpp_builder.CppBuilder, folder: str) -> None:
    """Has what `builder` makes linked to the stubs, unless it is for another process than this one."""
    stubs = Path(folder) / FOLDER
    may = builder._do_link and not builder._aot_mode
    if may and stubs.is_dir():
        # A stub defines nothing that is used, and would be left out of what the kernel needs.
        builder._ldflags_args += "-Wl,--no-as-needed "
        builder._libraries_dirs_args = f"-L{stubs} {builder._libraries_dirs_args}"
