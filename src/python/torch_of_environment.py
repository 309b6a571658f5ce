"""Prints the folder of the package torch, for the build of a wheel; nothing where there is none. Imports no torch.

pip builds in isolation: the site-packages of the environment are hidden, but the interpreter is still the one whose
torch is meant, and knows where they lie. So torch need not be a requirement of the build, for which pip would download
one of its own choice.
"""

import importlib.util
import site
import sys
import sysconfig
from pathlib import Path


def site_folders() -> list[str]:
    """Returns the folders of the environment, of its base Python where it shows that one, and of the user."""
    folders = [sysconfig.get_path("platlib"), sysconfig.get_path("purelib")]
    config = Path(sys.prefix) / "pyvenv.cfg"
    shows_base = not config.is_file() or "include-system-site-packages = true" in config.read_text().lower()
    if shows_base:
        base = {"base": sys.base_prefix, "platbase": sys.base_prefix}
        folders += [sysconfig.get_path("platlib", vars=base), *site.getsitepackages([sys.base_prefix])]
        folders.append(site.getusersitepackages())
    return folders


def torch_folder() -> str:
    found = importlib.util.find_spec("torch")
    places = list(found.submodule_search_locations or []) if found else []
    for place in [*places, *(f"{folder}/torch" for folder in site_folders())]:
        if (Path(place) / "share/cmake/Torch/TorchConfig.cmake").is_file():
            return place
    return ""


if __name__ == "__main__":
    print(torch_folder())
