#!/usr/bin/env bash
# Sets up what is missing, builds, and runs every check that CI runs. The last line is ctest's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s\n' "$*"; }

step "set-up and build"
scripts/build.sh release

step "includes point one way"
python3 scripts/check_layers.py

step "no line is longer than 120 columns"
python3 scripts/check_columns.py

step "format"
find src include tests -name '*.h' -o -name '*.cpp' | xargs clang-format --dry-run -Werror

step "Python: ruff and mypy"
. scripts/python_venv.sh
"$python_venv/bin/ruff" check .
"$python_venv/bin/mypy"

step "triage, and the scripts that check"
"$python_venv/bin/pytest" -q tests/triage tests/scripts tests/convert

step "the Python package: a wheel, installed into a fresh virtual environment"
scripts/test_python.sh

step "pages and the terminal, as a browser and a terminal see them"
"$python_venv/bin/pytest" -q tests/pages

step "LibTorch-free code under the sanitizers"
scripts/build.sh asan
timeout 900 build/asan/tests/core_tests --gtest_brief=1

step "fast tests"
ctest --preset release -L '^fast$' --stop-on-failure

step "all tests"
mkdir -p out
ctest --preset release | tee out/ctest.log

step "what became of the cases in fixtures/"
scripts/case_table.py --reports build/release/repros

grep -E '^[0-9]+% tests passed' out/ctest.log
