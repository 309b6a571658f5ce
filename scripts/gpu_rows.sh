#!/usr/bin/env bash
# scripts/gpu_rows.sh PYTHON [ARGUMENT...]: what docs/cuda.md says of a GPU, tried on the one that is here.
#
# PYTHON has PyTorch with CUDA, 2.11 or later. The program is built against it, offline, into build/gpu, unless PROGRAM
# names one that was; other arguments go to tests/bench/gpu/rows.py (--only GROUP/NAME, --limit SECONDS). Writes
# build/gpu/rows.json, and a table to standard output. With --pretend build/release/tests/plugins/pretended_cuda.so any
# machine will do: the CPU's memory and operators are the device's.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${1:?give a Python that has PyTorch with CUDA}
shift
if [ -z "${PROGRAM:-}" ]; then
  torch=$("$python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')
  cmake --preset release -S "$root" -B "$root/build/gpu" -DREPRO_MINIFY_WERROR=OFF -DREPRO_MINIFY_PYTHON="$python" \
    -DTorch_DIR="$torch/share/cmake/Torch" -DCMAKE_PREFIX_PATH="$torch/share/cmake" >&2
  cmake --build "$root/build/gpu" --target repro-minify --parallel "$(nproc)" >&2
  PROGRAM=$root/build/gpu/repro-minify
fi
mkdir -p "$root/build/gpu"
exec "$python" "$root/tests/bench/gpu/rows.py" --program "$PROGRAM" --python "$python" --work "$root/build/gpu/rows" \
  -o "$root/build/gpu/rows.json" "$@"
