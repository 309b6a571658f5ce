#!/usr/bin/env bash
# Makes build/python-venv, which holds the project's own Python (src/triage) and what checks it (ruff, mypy, pytest).
# torch is not in it: triage starts programs, and computes nothing. Does nothing, quickly, while pyproject.toml is the
# one that it was made of. Run it, or source it: it leaves python_venv.
set -euo pipefail

python_venv=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/python-venv

make_python_venv() {
  local root=${python_venv%/build/python-venv} stamp=$python_venv/made-of python
  cmp -s "$root/pyproject.toml" "$stamp" && return
  for python in python3 /usr/bin/python3; do
    printf 'setup: making build/python-venv with %s\n' "$(command -v "$python")" >&2
    if "$python" -m venv "$python_venv" &&
      "$python_venv/bin/python" -m pip install -q --disable-pip-version-check -e "$root[dev]" >&2; then
      cp "$root/pyproject.toml" "$stamp"
      return
    fi
  done
  printf 'setup: build/python-venv cannot be made; see what pip said above\n' >&2
  return 1
}

make_python_venv
