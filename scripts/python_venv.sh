#!/usr/bin/env bash
# Makes build/python-venv, in which the project's own Python runs from the clone (src/triage, src/python), with what
# checks it (ruff, mypy, pytest). It has what pyproject.toml names, but neither the program, which scripts/build.sh
# builds, nor torch: triage starts programs, and computes nothing (scripts/test_python.sh has torch). Does nothing,
# quickly, while pyproject.toml is the one that it was made of. Run it, or source it: it leaves python_venv.
# python_venv_extra: what is added to what the project needs (default: dev); empty: nothing, which takes seconds.
set -euo pipefail

python_venv=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/python-venv

# What the distribution needs, and what the extra adds, a line each.
requirements_of() {
  "$python_venv/bin/python" - "$1" "${python_venv_extra-dev}" <<'PYTHON'
import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
print("\n".join(project["dependencies"] + (project["optional-dependencies"][sys.argv[2]] if sys.argv[2] else [])))
PYTHON
}

# As an installation does it: the packages on the path, and the command of the triage.
install_from_clone() {
  local site
  site=$("$python_venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$1/src/triage" "$1/src/python" >"$site/repro_minify_clone.pth"
  # A first line with a blank in it would not start.
  printf '%s\n' '#!/bin/sh' "'''exec' \"$python_venv/bin/python\" \"\$0\" \"\$@\"" "' '''" 'import sys' \
    'from repro_minify_triage.command_line import main' 'sys.exit(main())' >"$python_venv/bin/repro-minify-triage"
  chmod +x "$python_venv/bin/repro-minify-triage"
}

make_python_venv() {
  local root=${python_venv%/build/python-venv} whole=$python_venv/made-of stamp python
  stamp=$whole
  [ -n "${python_venv_extra-dev}" ] || stamp=$whole-without-extra
  if cmp -s "$root/pyproject.toml" "$whole" || cmp -s "$root/pyproject.toml" "$stamp"; then
    return
  fi
  for python in /usr/bin/python3 python3; do
    printf 'setup: making build/python-venv with %s\n' "$(command -v "$python")" >&2
    if "$python" -m venv "$python_venv" && requirements_of "$root/pyproject.toml" >"$python_venv/requirements.txt" &&
      "$python_venv/bin/python" -m pip install -q --disable-pip-version-check \
        -r "$python_venv/requirements.txt" >&2; then
      install_from_clone "$root"
      cp "$root/pyproject.toml" "$stamp"
      return
    fi
  done
  printf 'setup: build/python-venv cannot be made; see what pip said above\n' >&2
  return 1
}

make_python_venv
