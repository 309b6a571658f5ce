#!/usr/bin/env bash
# Builds the benches and runs them all: our search beside the published ones on planted failures, our reducer beside
# PyTorch's minifier, every case in fixtures/, and ever larger programs. Tables on standard output; JSON, CSV and SVG in
# out/bench. Fails on no time.
#
#     scripts/bench.sh [--quick]      --quick: minutes rather than a quarter of an hour
#
# PyTorch's minifier is stopped where it has asked twenty times our queries, which decides, and after FX_LIMIT seconds a
# program (default 150; 0: never): what it has by then is in the table, its queries marked ">".
set -euo pipefail
quick=()
if [ "${1:-}" = --quick ]; then
  quick=(--quick)
fi
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root"
[ -n "$torch_python" ] || die "PyTorch's minifier needs a Python with torch; see scripts/setup.sh"
out=$root/out/bench
build=$root/build/release
mkdir -p "$out"

scripts/build.sh release bench

minifier=tests/bench/minifier
step() { printf '\n== %s\n' "$*"; }

step "the search on planted failures"
"$build/tests/bench/planted/bench_planted" --out "$out" "${quick[@]}"

step "our reducer on graphs with planted failures"
"$torch_python" $minifier/run_fx_minifier.py --export "$out/programs"
"$build/tests/bench/minifier/bench_programs" "$out/programs" -o "$out/programs.json"

step "PyTorch's minifier on the same graphs"
"$torch_python" $minifier/run_fx_minifier.py "${quick[@]}" --enough "$out/programs.json" \
  --limit "${FX_LIMIT:-150}" --jobs "$(nproc)" -o "$out/fx_minifier.json"

step "PyTorch's minifier and ours on a fault injected into TorchInductor"
"$torch_python" tests/bench/inductor_minifier.py --binary "$build/repro-minify" --work "$out/inductor" "${quick[@]}" \
  -o "$out/inductor_minifier.json"

step "ever larger programs"
"$torch_python" $minifier/run_fx_minifier.py --scale "$out/scale" "${quick[@]}"
"$build/tests/bench/minifier/bench_programs" "$out/scale" -o "$out/scale.json"

step "until the first cut of large models"
sizes=1000,3000,10000,30000,100000
[ ${#quick[@]} -eq 0 ] || sizes=1000,3000
"$torch_python" tests/bench/large/phases.py --binary "$build/repro-minify" --work "$out/large" --sizes "$sizes" \
  -o "$out/large.json"

step "the cases of fixtures/"
"$torch_python" tests/bench/cases.py --binary "$build/repro-minify" --work "$out/cases" "${quick[@]}" \
  -o "$out/cases.json"

step "inductor-like beside eager and TorchInductor"
"$torch_python" tests/bench/backends.py --binary "$build/repro-minify" --work "$out/backends" "${quick[@]}" \
  -o "$out/backends.json"

"$torch_python" tests/bench/tables.py "$out"
printf '\nin %s: planted.json, *.csv, *.svg\n' "$out"
