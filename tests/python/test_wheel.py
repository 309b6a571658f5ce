"""Tests of the wheel, in the environment that it was installed into. Skipped where it was not installed."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import entry_points, files, requires
from pathlib import Path

import pytest
import repro_minify
import torch
from models import INPUT
from repro_minify.torch_version import own_programs, program_for_torch

pytestmark = pytest.mark.skipif(not own_programs(), reason="the package is not installed from a wheel")
PACKAGE = Path(repro_minify.__file__).parent
BIN = Path(sysconfig.get_path("scripts"))


def started(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "repro-minify"), *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def test_the_package_is_the_installed_one() -> None:
    assert str(Path(repro_minify.__file__).parent.parent) == sysconfig.get_path("platlib")


def test_commands_and_entry_points() -> None:
    names = {point.name for point in entry_points(group="console_scripts")}
    assert {"repro-minify", "repro-minify-triage"} <= names
    assert [point.value for point in entry_points(group="torch_dynamo_backends")] == ["repro_minify.dynamo:backend"]
    assert started("--version").stdout.startswith("repro-minify 0.1.0\ntorch 2.")
    triage = subprocess.run([BIN / "repro-minify-triage", "--help"], capture_output=True, text=True)
    assert triage.returncode == 0 and "Nightly triage" in triage.stdout


def test_torch_is_no_requirement() -> None:
    assert not any(line.startswith("torch") for line in requires("repro-minify") or [])


def test_it_finds_the_torch_beside_it() -> None:
    """And nothing of the environment that built it, which is gone."""
    program, torch_folder = program_for_torch()
    assert program.parent.name == ".".join(torch.__version__.split(".")[:2])
    assert torch_folder == Path(torch.__file__).parent
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout
    paths = [line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "PATH" in line]
    assert paths == ["$ORIGIN/../../../torch/lib"]
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    line = next(line for line in loaded.splitlines() if "libtorch_cpu.so" in line)
    found = Path(line.split("=> ")[1].split(" (")[0])
    assert found.resolve() == (Path(torch.__file__).parent / "lib/libtorch_cpu.so").resolve()


@pytest.mark.parametrize("program", own_programs().values(), ids=own_programs())
def test_it_needs_nothing_of_the_distribution_that_built_it(program: Path) -> None:
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout
    needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "NEEDED" in line}
    of_the_system = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}
    assert {name for name in needed if not name.startswith(("libtorch", "libc10"))} <= of_the_system


def test_the_tag_says_how_old_the_system_may_be() -> None:
    """One that auditwheel has not seen says no more than the machine."""
    wheel = next(file for file in files("repro-minify") or [] if file.name == "WHEEL").read_text()
    tags = re.findall(r"^Tag: (.*)$", wheel, re.MULTILINE)
    assert all(tag.startswith("py3-none-") for tag in tags) and tags
    promised = re.search(r"manylinux_2_(\d+)_", wheel)
    for program in own_programs().values():
        needed = subprocess.run(["objdump", "-T", program], capture_output=True, text=True).stdout
        newest = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", needed))
        assert newest <= (int(promised.group(1)) if promised else 34)


@pytest.mark.skipif("REPRO_MINIFY_ALL_TESTS" in os.environ, reason="pip has compiled this one; it is not handed on")
def test_it_brings_the_licences_of_what_is_inside() -> None:
    """Debian's packages by name, as scripts/licences.py finds them in what was compiled."""
    brought = {file.stem: file for file in files("repro-minify") or [] if file.parent.name == "licenses"}
    inside = "cli11 fmt spdlog nlohmann-json3 tomlplusplus ssl seccomp ctemplate dtl ncurses boost1.74".split()
    missing = [name for name in inside if not brought.keys() & {f"lib{name}-dev", f"{name}-dev"}]
    assert not missing and "LICENSE" in brought
    assert "Apache License" in brought["Apache-2.0"].read_text()
    assert "ctemplate" in brought["libctemplate-dev"].read_text()
    assert not any(name.startswith(("libc6", "libstdc++", "libgtest", "googletest")) for name in brought)


def test_the_manual_has_every_option_and_is_clean() -> None:
    manual = Path(sys.prefix) / "share/man/man1/repro-minify.1"
    if not shutil.which("groff") or not shutil.which("help2man"):
        pytest.skip("no groff or no help2man here")
    ended = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", manual], capture_output=True, text=True)
    assert ended.returncode == 0 and ended.stderr == ""
    assert "repro-minify - minimises a TorchScript model" in ended.stdout
    command = json.loads(started("--help-json").stdout)[0]
    assert command["command"] == ""
    for option in command["options"]:
        for name in [*option["names"], *filter(None, [option["off"]])]:
            assert name in ended.stdout, name


def test_no_library_and_no_headers() -> None:
    assert not [str(file) for file in files("repro-minify") or [] if str(file).endswith((".a", ".h", ".cmake"))]


@pytest.mark.parametrize("version", ["2.3.0+cpu", None])
def test_the_command_says_that_torch_is_another(version: str | None, work: Path) -> None:
    """Python finds another torch before this one, or none at all."""
    (work / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'torch' else find(name, *more)\n"
        if version is None
        else ""
    )
    if version:
        (work / "torch").mkdir()
        (work / "torch/__init__.py").touch()
        (work / "torch/version.py").write_text(f"__version__ = '{version}'\n")
    ended = started("backends", PYTHONPATH=str(work))
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr.startswith("error: this repro-minify is for torch "), ended.stderr
    assert (version or "no torch") in ended.stderr and ended.stderr.count("\n") == 1


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_a_repro_is_verified_with_the_torch_of_this_environment(
    wrong: torch.nn.Module, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The C++ is built against it, and repro.py runs in it."""
    monkeypatch.setenv("REPRO_MINIFY_PRECOMPILED_HEADERS", "off")  # no later run will have this LibTorch
    result = repro_minify.minify(wrong, INPUT, "freeze", quiet=True, no_bisect=True)
    assert result.verified, result.report["verification"]
    assert result.repro.name == "repro.py"
    assert subprocess.run([sys.executable, result.repro]).returncode == 1


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_the_worker_of_inductor_is_in_it(work: Path) -> None:
    """It is found beside the program, and runs in this environment's Python."""
    backends = json.loads(started("backends", "--json").stdout)
    assert {each["name"]: each["usable"] for each in backends}["inductor"] is True
    assert (PACKAGE / "share/repro-minify/inductor/worker.py").is_file()


def test_the_build_finds_the_torch_that_isolation_hides(work: Path) -> None:
    """pip takes the site-packages off the path of the environment's own interpreter."""
    (work / "sitecustomize.py").write_text("import sys\nsys.path = [p for p in sys.path if 'site-packages' not in p]\n")
    environment = {**os.environ, "PYTHONPATH": str(work)}
    hidden = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, text=True, env=environment)
    assert "No module named 'torch'" in hidden.stderr
    script = Path(__file__).parents[2] / "src/python/torch_of_environment.py"
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert Path(found.stdout.strip()).samefile(Path(torch.__file__).parent)


def test_a_build_without_torch_ends_in_a_sentence(work: Path) -> None:
    venv.create(work / "bare")
    root = Path(__file__).parents[2]
    command = ["cmake", "-S", str(root), "-B", "build", "-DSKBUILD=2", "-DBUILD_TESTING=OFF"]
    ended = subprocess.run([*command, f"-DPython_EXECUTABLE={work}/bare/bin/python"], capture_output=True, text=True)
    said = " ".join(ended.stderr.split())
    assert ended.returncode != 0 and "repro-minify: no torch in the environment of" in said
    assert "Install torch first" in said


def test_a_torch_that_lies_elsewhere_is_found_too(work: Path) -> None:
    """The environment shows the packages of another: there RPATH leads nowhere."""
    venv.create(work / "other")
    other = work / "other/bin/python"
    site = next((work / "other/lib").glob("python*/site-packages"))
    shutil.copytree(PACKAGE, site / "repro_minify")
    (work / "elsewhere").mkdir()
    (work / "elsewhere/torch").symlink_to(Path(torch.__file__).parent)
    (site / "elsewhere.pth").write_text(f"{work}/elsewhere\n")
    program = site / "repro_minify/bin" / program_for_torch()[0].parent.name / "repro-minify"
    assert "not found" in subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    code = "from repro_minify.program import run; ended = run(['--version']); print(ended.output, ended.said)"
    ended = subprocess.run([other, "-c", code], capture_output=True, text=True)
    assert ended.stdout.split()[:2] == ["repro-minify", "0.1.0"], ended.stdout + ended.stderr
