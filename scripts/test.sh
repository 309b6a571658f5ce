#!/usr/bin/env bash
# scripts/test.sh [--all]: sets up what is missing, builds, and runs every check that CI runs; with --all also the tests
# that show on more models, or more often, what others show in a tenth of the time (more than an hour on two processors
# instead of a half): before a release, and for a change to what many models meet. The last line is ctest's.
set -euo pipefail
case ${1:-} in
  --all) export REPRO_MINIFY_ALL_TESTS=1 full_table=--full ;;
  ?*)
    echo "test.sh: $1: unknown; known is --all" >&2
    exit 2
    ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s (%d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

# Whatever ends this script ends what it has started beside itself.
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

step "set-up and build"
scripts/setup.sh
mkdir -p out
rm -f out/*.xml
# Python's packages are fetched while the compilers work. Where that comes to nothing, it is tried again, and heard.
scripts/python_venv.sh >out/python_venv.log 2>&1 &
python_venv_of=$!
(. scripts/packages.sh && install_packages libclang-rt-dev) # before the build looks for ThreadSanitizer
scripts/build.sh release
wait $python_venv_of || true

step "includes point one way"
python3 scripts/check_layers.py

step "no line is longer than 120 columns"
python3 scripts/check_columns.py

step "what documents name is there"
python3 scripts/check_docs.py

step "comments are sentences"
python3 scripts/check_words.py

step "no test compares a clock"
python3 scripts/check_clocks.py

step "format"
find src include tests -name '*.h' -o -name '*.cpp' | xargs -P 2 -n 50 clang-format --dry-run -Werror

. scripts/python_venv.sh
. scripts/packages.sh
nvrtc=("$python_venv"/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*)
[ ! -e "${nvrtc[0]}" ] || export REPRO_MINIFY_NVRTC=${nvrtc[0]}
# One processor each: what only Python does, and what is compiled anew. What a shell starts beside itself ignores
# Ctrl-C, and what nohup starts SIGHUP; so would the programs that are interrupted in these tests.
heeding=(env --default-signal=INT,QUIT,HUP)
python_tests() {
  step "Python: ruff and mypy"
  "$python_venv/bin/ruff" check .
  "$python_venv/bin/mypy"
  step "clang-tidy, where LibTorch is not read"
  scripts/tidy.sh --changed
  step "what tests alone need"
  install_packages chromium groff-base
  step "triage, and the scripts that check"
  "${heeding[@]}" "$python_venv/bin/pytest" -q --durations=10 -rs tests/triage tests/scripts
  step "the Python package: a wheel, installed into a fresh virtual environment; conversion"
  "${heeding[@]}" scripts/test_python.sh -rs --durations=10
  step "pages and the terminal, as a browser and a terminal see them"
  "${heeding[@]}" "$python_venv/bin/pytest" -q --durations=10 -rs tests/pages
  step "faults: signals, failing calls, limits, full disks"
  "${heeding[@]}" "$python_venv/bin/pytest" -q --durations=10 -rs ${full_table:-} tests/security/test_faults.py
}
(python_tests) >out/python_tests.log 2>&1 &
python_tests_of=$!

step "LibTorch-free code under the sanitizers"
scripts/build.sh asan
# How many questions a search asks, at how many sizes it does, what is large for its own sake, and what other compilers
# compile is the same without them, and takes minutes.
unsanitized=('*CallCounts.*' '*CallsNearTheBound.*' 'UntunedCases.*' Search.ManyNodesNeeded
  'SearchOverSizes.A*' 'SearchOverSizes.C*' 'SearchOverSizes.F*' 'SearchOverSizes.G*' 'SearchOverSizes.K*'
  'SearchOverSizes.S*' 'CudaKernelTest.*' 'StripsTest.ColumnsFold*' 'StripsTest.BothSources*' '*KeptHeaders.*'
  WithoutParticulars.TakesTenMegabytesOfAnything 'NvrtcTest.*')
# What these skip under the sanitizers, or do less of.
skipped_there=(Sandbox.SurvivesANullPointer Sandbox.SurvivesAStackOverflow Sandbox.LimitsMemory
  Sandbox.TellsOfMemoryWhereNoExceptionCanBeCaught Sandbox.DoesNotBlameAnOldFailedAllocationForACrash
  Sandbox.LetsAJobUseWhatTheLimitAllowsAboveItsParent Sandbox.KnowsLibTorchsWordsForOutOfMemory
  Sandbox.SaysSoWhenThereAreNoDescriptors SandboxHostileJob.RunsOutOfMemoryInAThread SandboxCrashFrames.NeedNoMemory
  SandboxProcesses.OutOfDescriptorsIsAnOutcomeAndLeaksNone CudaLibraryTest.WhatAReproContainsDoesTheSame
  LargePages.HoldTheHeapOnceAChildWasForked)
# in_halves PROGRAM FILTER: its tests, in two processes and in an order by chance: none rests on what ran before.
in_halves() {
  local half halves=() preset
  preset=$(cut -d / -f 2 <<<"$1")
  for half in 0 1; do
    "${heeding[@]}" GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX="$half" timeout 3600 "$1" --gtest_brief=1 \
      --gtest_shuffle --gtest_output="xml:out/core_tests_${preset}_$half.xml" --gtest_filter="$2" &
    halves+=($!)
  done
  for half in "${halves[@]}"; do
    wait "$half"
  done
}
names=$(IFS=: && echo "${unsanitized[*]}")
in_halves build/asan/tests/core_tests "-$names"

step "fast tests"
if [ -n "${REPRO_MINIFY_ALL_TESTS:-}" ]; then
  ctest --preset release -L '^fast' --stop-on-failure --output-junit "$PWD/out/ctest_fast.xml" | tee out/ctest_fast.log
else # the others have been run under the sanitizers
  in_halves build/release/tests/core_tests "$names:$(IFS=: && echo "${skipped_there[*]}")"
  ctest --preset release -L '^fast$' --stop-on-failure --output-junit "$PWD/out/ctest_fast.xml" | tee out/ctest_fast.log
fi

step "all other tests"
ctest --preset release -LE '^fast' --output-junit "$PWD/out/ctest.xml" | tee out/ctest.log

wait $python_tests_of || python_tests_failed=$?
cat out/python_tests.log
[ -z "${python_tests_failed:-}" ]

step "what became of the cases in fixtures/"
[ -n "${REPRO_MINIFY_ALL_TESTS:-}" ] || some=--some
scripts/case_table.py --reports build/release/repros ${some:-}

step "the ten dearest tests of ctest, in seconds"
# awk reads to the end: a pipe that is closed early would end this script.
sed -nE 's/.* Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec$/\2 \1/p' out/ctest_fast.log out/ctest.log | sort -rn |
  awk "NR <= 10"

step "what was skipped (above: of pytest's)"
python3 scripts/skipped_tests.py out/core_tests_*.xml out/ctest*.xml build/release/tests/{torch,repro}_tests_*.xml

grep -E '^[0-9]+% tests passed' out/ctest.log
