"""precompile_headers.py REPRO_MINIFY MODEL TORCH_PREFIX FOLDER

Compiles torch/script.h in advance, exactly as the CMake project that is handed over compiles it, into FOLDER/torch:
with CPATH=FOLDER, GCC takes it for the first #include of a repro.cpp wherever its flags agree (it checks that itself),
and reads the header as ever where they do not. What the tests build stays what a user builds, in a quarter of the time.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HEADER = "torch/script.h"


def compile_command(binary, model, prefix, folder):
    """How CMake compiles a repro.cpp, word for word."""
    repro, build = folder / "x.repro", folder / "build"
    reduction = [binary, model, "--backend", "static-runtime", "-o", repro, "--no-verify", "--no-bisect", "--quiet"]
    subprocess.run(reduction, check=True, stdout=subprocess.DEVNULL)
    assert f"#include <{HEADER}>" in (repro / "repro.cpp").read_text()
    configure = [
        "cmake",
        "-S",
        repro,
        "-B",
        build,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
    ]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    (entry,) = json.loads((build / "compile_commands.json").read_text())
    return shlex.split(entry["command"])


def main(binary, model, prefix, target):
    target = Path(target) / (HEADER + ".gch")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        words = compile_command(binary, model, prefix, Path(folder))
        header = Path(folder) / HEADER  # nothing but this line: its own `#pragma once` would be one in a main file
        header.parent.mkdir()
        header.write_text(f"#include <{HEADER}>\n")
        compiler = words[: words.index("-o")]
        if words[0].endswith("ccache"):
            compiler = words[1 : words.index("-o")]
        made = Path(f"{target}.{os.getpid()}")
        subprocess.run([*compiler, "-x", "c++-header", header, "-o", made], check=True)
        made.rename(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
