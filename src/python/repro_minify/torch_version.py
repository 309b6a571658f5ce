"""Which torch this environment has, and which program of the wheel is for it. Nothing here imports torch."""

import importlib.util
import re
from pathlib import Path

from .errors import CannotStart

# A folder for each LibTorch that the wheel has a program for: 2.13/repro-minify (src/install_program.cmake).
PROGRAMS = Path(__file__).with_name("bin")


def torch_folder() -> Path | None:
    """Where the package torch of this interpreter lies."""
    found = importlib.util.find_spec("torch")
    places = found.submodule_search_locations if found else None
    return Path(places[0]) if places else None


def version_in(folder: Path) -> str:
    """With the local part that tells a build with CUDA from one without: 2.13.0+cpu. Empty where none is written."""
    try:
        text = (folder / "version.py").read_text(errors="replace")
    except OSError:
        return ""
    found = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return found.group(1) if found else ""


def own_programs() -> dict[str, Path]:
    """The programs that came with this package, by what they are for, from the oldest torch to the newest."""
    found = {path.parent.name: path for path in PROGRAMS.glob("*/repro-minify")}
    return {name: found[name] for name in sorted(found, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])}


def interface_of(version: str) -> str:
    """The name of the program for that torch. Releases that differ in their third number alone have the same
    headers; one that is no release is like no other (docs/notes/one-wheel.md)."""
    release = re.fullmatch(r"(\d+\.\d+)\.\d+(\+.*)?", version)
    return release.group(1) if release else version


def program_for_torch() -> tuple[Path, Path]:
    """The program of this package that runs beside the torch of this environment, and the folder of that torch."""
    folder = torch_folder()
    version = version_in(folder) if folder else ""
    programs = own_programs()
    if folder and (program := programs.get(interface_of(version))):
        return program, folder
    has = f"torch {version or 'unknown'}" if folder else "no torch"
    newest = f"{list(programs)[-1]}.*" if re.fullmatch(r"[\d.]+", list(programs)[-1]) else list(programs)[-1]
    raise CannotStart(
        f"this repro-minify is for torch {', '.join(programs)}, and this environment has {has}; install one of "
        f"those (pip install 'torch=={newest}'), or build repro-minify for yours from its source, with a C++ compiler "
        "(pip install --force-reinstall --no-deps --no-binary repro-minify repro-minify)"
    )
