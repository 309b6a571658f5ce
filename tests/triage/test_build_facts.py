"""Tests of what is known of a build: asked of the program that a night starts, whatever stands around it."""

import shutil
import subprocess
from pathlib import Path

import pytest
from repro_minify_triage.build_facts import Loaded

HEADER = '#pragma once\n#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION \\\n  "2.15.0.dev20261123"\n'


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """One that is linked with a libtorch_cpu.so, in a folder like PyTorch's."""
    torch = tmp_path / "a torch"
    (torch / "lib").mkdir(parents=True)
    (torch / "include/torch/headeronly").mkdir(parents=True)
    (torch / "include/torch/headeronly/version.h").write_text(HEADER)
    compiler = shutil.which("c++")
    if not compiler:
        pytest.skip("needs a C++ compiler")
    for name, text in (("library.cpp", "int answer() { return 0; }"),
                       ("program.cpp", "int answer(); int main() { return answer(); }")):  # fmt: skip
        (tmp_path / name).write_text(text)
    library, made = torch / "lib/libtorch_cpu.so", tmp_path / "program"
    subprocess.run([compiler, "-shared", "-fPIC", tmp_path / "library.cpp", "-o", library], check=True)
    path = f"-Wl,-rpath,{library.parent}"
    subprocess.run([compiler, tmp_path / "program.cpp", library, path, "-o", made], check=True)
    return made


def test_the_version_is_that_of_the_library_that_is_loaded(program: Path) -> None:
    assert Loaded(str(program)).torch_version() == "2.15.0.dev20261123"


@pytest.fixture
def script(program: Path) -> Path:
    around = program.with_name("around")
    around.write_text(f'#!/bin/sh\nprintf "%s" around\nexec "{program}" "$@"\n')
    around.chmod(0o755)
    return around


def test_a_script_around_the_program_hides_nothing(script: Path) -> None:
    assert Loaded(str(script)).torch_version() == "2.15.0.dev20261123"


def test_a_program_without_it_is_unknown() -> None:
    assert Loaded("/bin/true").torch_version() == "unknown"


@pytest.mark.parametrize("rebuilt", ["program", "a torch/lib/libtorch_cpu.so", "around"])
def test_what_is_built_anew_under_its_old_version_is_another_build(script: Path, rebuilt: str) -> None:
    before = Loaded(str(script))
    digest = before.digest()
    assert digest == Loaded(str(script)).digest()
    with (script.parent / rebuilt).open("ab") as file:
        file.write(b"\n")
    after = Loaded(str(script))
    assert after.torch_version() == before.torch_version()
    assert after.digest() != digest
