#!/usr/bin/env bash
# Builds the tool, minimises a real failing model of 355 nodes, and shows the C++ that comes out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Clang takes half the time of GCC, which builds what is tested: where that lies here already, it is taken.
export compiles_modules=no
. scripts/setup.sh
preset=release
if [ ! -x build/release/repro-minify ] && command -v clang++ >/dev/null; then
  preset=quick
fi
scripts/build.sh "$preset" repro-minify
# Python compiles what torch has while the demo runs, which leaves a processor idle.
if [ "$torch_python" = "$PWD/build/venv/bin/python" ]; then
  compile_modules_of "$torch_python" &
fi
"build/$preset/repro-minify" fixtures/cases/big_freeze_linear_bn_3d/failing.pt --backend freeze \
  -o out/demo.repro --force --no-ablation

printf '\n%s\n\n' "$PWD/out/demo.repro/repro.cpp"
cat out/demo.repro/repro.cpp
wait
