"""Which torch this environment has, and which one the program was built against. Nothing here imports torch."""

import importlib.util
import json
import re
from pathlib import Path

from .errors import CannotStart

BUILT = Path(__file__).with_name("built.json")  # written by the build of the wheel


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


def serves(present: str, built: str) -> bool:
    """True if the program runs beside the torch that is present. One that was built without CUDA loads what every build
    of that version has."""
    version, _, kind = built.partition("+")
    return present == built or (kind == "cpu" and present.partition("+")[0] == version)


def require_same_torch() -> Path:
    """The folder of torch, if the program of this package runs beside it."""
    built = str(json.loads(BUILT.read_text())["torch"])
    again = "install it from its source in this environment (pip install --force-reinstall --no-deps .)"
    folder = torch_folder()
    if folder is None:
        raise CannotStart(
            f"repro-minify was built against torch {built}, and this environment has no torch; "
            f"install torch=={built}, or another torch and then repro-minify from its source"
        )
    if not serves(present := version_in(folder), built):
        raise CannotStart(
            f"repro-minify was built against torch {built}, and this environment has torch {present or 'unknown'}; "
            f"{again}, or install torch=={built}"
        )
    return folder
