#!/usr/bin/env bash
# scripts/tidy.sh [pattern]: clang-tidy over the tree (or the files whose path matches), as .clang-tidy sets it.
# Needs the Debian package clang-tidy and a build of the preset dev. Slow where a file includes LibTorch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

find src tests -name '*.cpp' | grep -E "${1:-.}" | sort | xargs -n 1 -P "$(nproc)" clang-tidy -p build/dev --quiet
