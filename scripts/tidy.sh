#!/usr/bin/env bash
# scripts/tidy.sh [pattern]: clang-tidy over the tree (or the files whose path matches), as .clang-tidy sets it.
# Needs the Debian package clang-tidy. Slow where a file includes LibTorch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

torch_dir=${Torch_DIR:-$(sed -n "s/^Torch_DIR:PATH=//p" build/release/CMakeCache.txt)}
cmake --preset dev -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DTorch_DIR="$torch_dir" >/dev/null
find src tests -name '*.cpp' | grep -E "${1:-.}" | sort |
  xargs -n 1 -P "$(nproc)" clang-tidy -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option
