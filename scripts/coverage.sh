#!/usr/bin/env bash
# scripts/coverage.sh: which lines of emit/ the tests in tests/emit have run (build/release, after ctest), file by file;
# exit code 2 where it is fewer than the floor. What a sandbox child runs is not counted: it ends without a word.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/python_venv.sh

floor=${1:-85} # percent of lines
counted=build/release/src/CMakeFiles/repro_minify_emit_watched.dir
"$python_venv/bin/gcovr" --root . --filter 'src/emit/' --exclude-unreachable-branches --fail-under-line "$floor" \
  --gcov-ignore-parse-errors=negative_hits.warn_once_per_file "$counted"
