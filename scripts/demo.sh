#!/usr/bin/env bash
# Builds the tool, minimises a real failing model of 355 nodes, and shows the C++ that comes out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh release repro-minify
build/release/repro-minify fixtures/cases/big_freeze_linear_bn_3d/failing.pt --backend freeze -o out/demo.repro --force

printf '\n%s\n\n' "$PWD/out/demo.repro/repro.cpp"
cat out/demo.repro/repro.cpp
