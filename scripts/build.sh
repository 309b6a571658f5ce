#!/usr/bin/env bash
# scripts/build.sh [preset [target...]]: sets up what is missing, then builds into build/<preset> (default: release,
# everything). The preset `program` is the program alone, as it is built soonest: by clang, which takes half the time of
# GCC, unless GCC has built it already. build/repro-minify is then a link to the program that was built last.
preset=${1:-release}
targets=("${@:2}")
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

cd "$root"
if [ "$preset" = program ]; then
  preset=release targets=(repro-minify)
  if [ ! -x build/release/repro-minify ] && command -v clang++ >/dev/null; then
    preset=quick
  fi
fi
cmake --preset "$preset" -DTorch_DIR="$torch_dir" \
  -DCMAKE_PREFIX_PATH="${torch_dir%/Torch}" -DREPRO_MINIFY_PYTHON="$torch_python"
cmake --build "build/$preset" --target "${targets[@]:-all}" --parallel "$(nproc)"
case $preset in
  release | quick | dev) [ ! -x "build/$preset/repro-minify" ] || ln -sfn "$preset/repro-minify" build/repro-minify ;;
esac
