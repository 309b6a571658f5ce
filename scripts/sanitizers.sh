#!/usr/bin/env bash
# scripts/sanitizers.sh [pattern]: the tests that need LibTorch, of suites whose name matches, under the address and
# undefined-behaviour sanitizers (preset asan-torch). 15 minutes to build on two processors, 15 to run. One process for
# each suite: what ends one hides nothing of the others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh asan-torch torch_tests repro_tests

# LibTorch keeps what it has until the end, and has names of its own more than once.
export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0
# Where memory is exhausted on purpose, the sanitizer is what ends the process.
left_out=Check.SeesExhaustedMemory*

failed=()
for tests in build/asan-torch/tests/{torch,repro}_tests; do
  [ -x "$tests" ] || { echo "$tests is not built" >&2; exit 1; }
  suites=$("$tests" --gtest_list_tests --gtest_filter="${1:-*}*" | sed -n 's/^\([^ ]*\.\).*/\1/p')
  for suite in $suites; do
    timeout 900 "$tests" --gtest_brief=1 --gtest_filter="$suite*:-$left_out" || failed+=("$suite")
  done
done
[ ${#failed[@]} -eq 0 ] || { printf 'failed under the sanitizers: %s\n' "${failed[*]}" >&2; exit 1; }
echo "all suites passed under the sanitizers"
