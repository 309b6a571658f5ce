#!/usr/bin/env bash
# scripts/coverage.sh [percent]: builds tests/repro in build/coverage (15 minutes on two processors),
# runs them, and prints which lines of src/repro were run, file by file; exit code 2 where it is fewer
# than the floor. What a child of the sandbox runs is not counted, as it ends without writing its counters.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/python_venv.sh

floor=${1:-85} # percent of lines
. scripts/setup.sh
cmake --preset release -B build/coverage -DCMAKE_CXX_FLAGS=--coverage -DTorch_DIR="$torch_dir" \
  -DCMAKE_PREFIX_PATH="${torch_dir%/Torch}" -DREPRO_MINIFY_PYTHON="$torch_python"
cmake --build build/coverage --target repro_tests --parallel "$(nproc)"
build/coverage/tests/repro_tests --gtest_brief=1
counted=build/coverage/src/CMakeFiles/repro_minify.dir
"$python_venv/bin/gcovr" --root . --filter 'src/repro/' \
  --exclude-unreachable-branches --fail-under-line "$floor" \
  --gcov-ignore-parse-errors=negative_hits.warn_once_per_file "$counted"
