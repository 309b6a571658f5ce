#!/usr/bin/env bash
# scripts/tidy.sh [pattern]: clang-tidy over the tree (or the files whose path matches), as .clang-tidy sets it.
# scripts/tidy.sh --changed [revision]: over what has changed since then and knows nothing of LibTorch, two seconds a
# file. CI runs that.
# clang-tidy is that of build/python-venv. A file that includes LibTorch takes half a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/python_venv.sh

# One file after the other, and not a dozen at once. $1: core, where none of LibTorch is read, or OFF.
configure() {
  local torch_dir
  torch_dir=${Torch_DIR:-$(sed -n "s/^Torch_DIR:PATH=//p" build/release/CMakeCache.txt)}
  cmake --preset dev -B build/tidy -DREPRO_MINIFY_BATCHES=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
    -DTorch_DIR="$torch_dir" -DREPRO_MINIFY_SANITIZE="$1" >/dev/null
}

look_at() {
  sort | xargs -r -n 1 -P "$(nproc)" "$python_venv/bin/clang-tidy" -p build/tidy --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-c99-extensions \
    --extra-arg=-Wno-missing-field-initializers --extra-arg=-Wno-deprecated-declarations
}

# As branches are reviewed: since this one left origin's, or since the commit before. None where there is no history.
beginning() {
  local left
  left=$(git merge-base HEAD origin/HEAD 2>/dev/null) || left=$(git rev-parse -q --verify HEAD 2>/dev/null) || return 0
  [ "$left" != "$(git rev-parse HEAD)" ] || left=$(git rev-parse -q --verify HEAD~1) || return 0
  printf '%s\n' "$left"
}

if [ "${1:-}" = --changed ]; then
  since=${2:-$(beginning)}
  [ -n "$since" ] || exit 0
  configure core
  git diff --name-only --diff-filter=d "$since" -- src/{core,tasks}/*.cpp \
    src/program/pickle*.cpp src/reduce/search*.cpp src/backends/inductor_like/kernel*.cpp | look_at
else
  configure OFF
  find src tests -name '*.cpp' | grep -E "${1:-.}" | look_at
fi
