#!/usr/bin/env bash
# Installs what is missing, finds LibTorch, and says what it uses. Does nothing, quickly, when nothing is missing.
# Run it, or source it: it leaves torch_dir (where TorchConfig.cmake lies) and torch_python (a Python with torch,
# or empty).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
torch_version=2.13.0
packages=(build-essential clang cmake ninja-build ccache python3-dev python3-venv clang-format
          libboost-graph-dev libcli11-dev libspdlog-dev libgtest-dev nlohmann-json3-dev libtomlplusplus-dev libssl-dev
          libseccomp-dev libctemplate-dev libdtl-dev libncurses-dev graphviz help2man)

. "$root/scripts/packages.sh"

# The folder of TorchConfig.cmake in or under a prefix.
torch_config_under() {
  local folder
  for folder in "$1" "$1/share/cmake/Torch" "$1/Torch" "$1/torch/share/cmake/Torch"; do
    if [ -f "$folder/TorchConfig.cmake" ]; then
      (cd "$folder" && pwd)
      return
    fi
  done
  return 1
}

# The folder of TorchConfig.cmake of a Python's torch; torch itself is not loaded, which would take seconds.
torch_config_of_python() {
  local package find='import importlib.util as u; s = u.find_spec("torch")'
  package=$("$1" -c "$find; print(s.submodule_search_locations[0] if s else '')" 2>/dev/null) || return 1
  [ -n "$package" ] && torch_config_under "$package"
}

version_of_python() {
  "$1" -c 'import importlib.metadata as m; print(m.version("torch"))' 2>/dev/null || echo unknown
}

# Python looks for cycles of garbage after every 700 objects that it makes: a fifth of the time of importing torch,
# which the tests do hundreds of times.
collect_garbage_seldom() {
  local site
  for site in "$1"/lib/python3*/site-packages; do
    echo 'import gc; gc.set_threshold(20_000, 50, 50)' >"$site/collect_garbage_seldom.pth"
  done
}

# A virtual environment of our own, completed where an earlier run was interrupted. Debian's Python comes first: one
# that was built from source without its profile needs a quarter more time to import torch. pip_options: more of them,
# for pip.
make_venv() {
  local venv=$root/build/venv python
  if ! torch_config_of_python "$venv/bin/python" >/dev/null || ! "$venv/bin/python" -c 'import numpy' 2>/dev/null; then
    for python in /usr/bin/python3 python3; do
      say "installing torch==$torch_version into build/venv with $(command -v "$python")"
      # torch reads numpy arrays, and the helpers in Python use them.
      if "$python" -m venv --clear "$venv" && collect_garbage_seldom "$venv" &&
        "$venv/bin/python" -m pip install -q --disable-pip-version-check ${pip_options:-} \
          "torch==$torch_version" numpy; then
        break
      fi
    done
  fi
  torch_dir=$(torch_config_of_python "$venv/bin/python") ||
    die "could not install torch==$torch_version into build/venv"
  torch_python=$venv/bin/python
}

find_torch() {
  local prefix prefixes found
  torch_dir='' torch_python=''
  IFS=':;' read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  for prefix in "${Torch_DIR:-}" "${prefixes[@]}"; do
    if [ -n "$prefix" ] && found=$(torch_config_under "$prefix"); then
      torch_dir=$found
      break
    fi
  done
  if found=$(torch_config_of_python python3); then
    torch_python=$(python3 -c 'import sys; print(sys.executable)')
    torch_dir=${torch_dir:-$found}
  fi
  if [ -z "$torch_dir" ]; then
    make_venv
  elif [ -z "$torch_python" ] && torch_config_of_python "$root/build/venv/bin/python" >/dev/null; then
    torch_python=$root/build/venv/bin/python
  fi
  say "LibTorch: $torch_dir"
  if [ -n "$torch_python" ]; then
    local version
    version=$(version_of_python "$torch_python")
    say "Python with torch $version: $torch_python"
    case $version in
      "$torch_version" | "$torch_version"+*) ;;
      *) say "note: the failing models in fixtures/ are failures of torch $torch_version" ;;
    esac
  else
    say "Python with torch: none, so tests that need one are skipped"
  fi
}

# torch is fetched while Debian's packages are. Where that comes to nothing, it is tried again, and heard.
torch_begun=
if [ -n "$(missing_packages "${packages[@]}")" ] && /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null; then
  (find_torch) >/dev/null 2>&1 &
  torch_begun=$!
fi
install_packages "${packages[@]}"
[ -z "$torch_begun" ] || wait "$torch_begun" || true
find_torch
