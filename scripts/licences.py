#!/usr/bin/env python3
"""Collects the licences of what a built program holds beside the project's own code.

    scripts/licences.py BUILD FOLDER    a build folder of Ninja, complete; where to write

Ninja knows each header that was read, and so each library that is inside, header only or linked: what is linked is also
included. dpkg knows whose they are. FOLDER gets PACKAGE.txt for each such package of Debian, its copyright file, and
the common licences that those name. The system's C and C++ libraries and LibTorch are not inside.
"""

import re
import subprocess
import sys
from pathlib import Path

COMMON = Path("/usr/share/common-licenses")
# Headers of the compiler and of what every system has.
OF_THE_SYSTEM = re.compile(r"libc6-dev|libstdc\+\+-\d+-dev|linux-libc-dev|libclang-common-\d+-dev|(lib)?gcc-.*")


def headers_of(build: Path) -> set[str]:
    """Those that were read to compile src/, in this system's folders."""
    told = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found: set[str] = set()
    ours = False
    for line in told.splitlines():
        if line.startswith("    "):
            found |= {str(Path(line.strip()).resolve())} if ours and line.startswith("    /usr/") else set()
        elif line:
            ours = line.startswith("src/")
    return found


def packages_of(files: set[str]) -> set[str]:
    """Debian's packages that these files belong to."""
    told = subprocess.run(["dpkg-query", "-S", *sorted(files)], capture_output=True, text=True).stdout
    names = {line.partition(":")[0] for line in told.splitlines()}
    return {name for name in names if not OF_THE_SYSTEM.fullmatch(name)}


def collect(packages: set[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    common: set[str] = set()
    for package in packages:
        text = Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")
        (folder / f"{package}.txt").write_text(text)
        common |= {name.rstrip(".-") for name in re.findall(rf"{COMMON}/([\w.-]+)", text)}
    for name in common:
        if (COMMON / name).is_file():
            (folder / f"{name}.txt").write_text((COMMON / name).read_text(errors="replace"))


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    packages = packages_of(headers_of(Path(sys.argv[1])))
    if not packages:
        print(f"licences.py: {sys.argv[1]}: not a complete build of Ninja, or no Debian", file=sys.stderr)
        return 1
    collect(packages, Path(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
