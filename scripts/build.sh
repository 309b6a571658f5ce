#!/usr/bin/env bash
# scripts/build.sh [preset [target...]]: sets up what is missing, then builds into build/<preset> (default: release,
# everything).
preset=${1:-release}
targets=("${@:2}")
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

cd "$root"
cmake --preset "$preset" -DTorch_DIR="$torch_dir" \
  -DCMAKE_PREFIX_PATH="${torch_dir%/Torch}" -DREPRO_MINIFY_PYTHON="$torch_python"
cmake --build "build/$preset" --target "${targets[@]:-all}" --parallel "$(nproc)"
