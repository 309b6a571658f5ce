#!/usr/bin/env bash
# scripts/fuzz.sh [seconds [seed [harness...]]]: builds libFuzzer's programs with clang (Debian's `clang` and
# `libclang-rt-dev`), and lets each (tests/security/fuzz/) look for so long (default: 60 s). What is found lies in
# out/fuzz/; it belongs into tests/security/fuzz/corpora/HARNESS/ once it is mended. Exit code 1: something is found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-60}
seed=${2:-1}
shift $(($# < 2 ? $# : 2))

if ! command -v clang++ >/dev/null; then
  echo "fuzz.sh: needs clang++: apt-get install clang libclang-rt-dev" >&2
  exit 2
fi
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --parallel "$(nproc)" >/dev/null

programs=build/fuzz/fuzz
[ $# -gt 0 ] || set -- $(cd "$programs" && printf '%s\n' fuzz_* | sed 's/^fuzz_//')
found=0
for harness in "$@"; do
  work=out/fuzz/$harness
  mkdir -p "$work/made"
  # What this run has made goes into the first folder; those behind it are only read.
  "$programs/fuzz_$harness" -max_total_time="$seconds" -seed="$seed" -rss_limit_mb=2048 -timeout=10 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$work/" "$work/made" "tests/security/fuzz/corpora/$harness" \
    >"$work/log" 2>&1 && words="nothing found" || { words="FOUND, see $work/log"; found=1; }
  echo "$harness: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log") inputs in $seconds s: $words"
done
exit $found
