#!/usr/bin/env bash
# Builds the tool, minimises a real failing model of 355 nodes, and shows the C++ that comes out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export pip_options=--no-compile
. scripts/setup.sh
scripts/build.sh release repro-minify
# pip has compiled nothing of torch, which takes ten seconds: what TorchInductor imports is compiled while one processor
# is idle. A Python under the limits of a model could not keep what it compiles.
if [ -n "$torch_python" ]; then
  env -u PYTHONDONTWRITEBYTECODE nice "$torch_python" -c 'import torch._dynamo, torch._inductor.compile_fx' || true &
fi
build/repro-minify fixtures/cases/big_freeze_linear_bn_3d/failing.pt --backend freeze \
  -o out/demo.repro --force --no-ablation

printf '\n%s\n\n' "$PWD/out/demo.repro/repro.cpp"
cat out/demo.repro/repro.cpp
wait
bin=$PWD/build
printf '\nThe program is %s/repro-minify; to type repro-minify alone: export PATH="%s:$PATH"\n' "$bin" "$bin"
