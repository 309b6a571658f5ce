#!/usr/bin/env bash
# scripts/build.sh [preset [target...]]: sets up what is missing, then builds into build/<preset> (default: release,
# everything). build/repro-minify is then a link to the program that was built last. Clang compiles the presets release
# and asan, in two thirds and a third of GCC's time, where it is installed and $CXX names no other compiler.
preset=${1:-release}
targets=("${@:2}")
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

cd "$root"
[ "$preset" != asan ] || install_packages libclang-rt-dev
compiler=()
if [[ $preset = release || $preset = asan ]] && [ ! -e "build/$preset/CMakeCache.txt" ] && [ -z "${CXX:-}" ] &&
  command -v clang++ >/dev/null; then
  compiler=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
fi
cmake --preset "$preset" "${compiler[@]}" -DTorch_DIR="$torch_dir" \
  -DCMAKE_PREFIX_PATH="${torch_dir%/Torch}" -DREPRO_MINIFY_PYTHON="$torch_python"
cmake --build "build/$preset" --target "${targets[@]:-all}" --parallel "$(nproc)"
case $preset in
  release | dev) [ ! -x "build/$preset/repro-minify" ] || ln -sfn "$preset/repro-minify" build/repro-minify ;;
esac
