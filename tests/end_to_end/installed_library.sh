#!/usr/bin/env bash
# installed_library.sh BUILD_FOLDER TORCH_DIR COMPILER SOURCE_FOLDER: installs into a folder of its own, builds and
# runs docs/library_example against it, and with REPRO_MINIFY_ALL_TESTS compiles each public header alone.
set -euo pipefail
build=$1 torch_dir=$2 compiler=$3 source=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" >"$work/install.log" || { cat "$work/install.log"; exit 1; }

headers_compile_alone() {
  local torch flags end header
  torch=${torch_dir%/share/cmake/Torch}/include
  flags=(-std=c++20 -Wall -Werror -I"$work/installed/include" -isystem "$torch"
    -isystem "$torch/torch/csrc/api/include")
  # LibTorch's headers are read once for all; what is ours each header has to bring itself.
  printf '#include <torch/csrc/jit/api/module.h>\n#include <torch/csrc/jit/ir/ir.h>\n' >"$work/torch.h"
  "$compiler" "${flags[@]}" -x c++-header "$work/torch.h"
  # What is read to its end ends with that error, and so before LibTorch's templates are instantiated: 3 s for each.
  end="read to its end"
  for header in "$work"/installed/include/repro_minify/*.h; do
    printf '#include <repro_minify/%s>\nstatic_assert(false, "%s");\n' "$(basename "$header")" "$end" \
      >"$work/alone.cpp"
    "$compiler" "${flags[@]}" -fsyntax-only -Wfatal-errors -include "$work/torch.h" "$work/alone.cpp" \
      2>"$work/said.txt" && exit 1
    grep -q "alone.cpp:2:.*$end" "$work/said.txt" ||
      { cat "$work/said.txt"; echo "$header does not compile alone"; exit 1; }
  done
  echo "$(find "$work/installed/include/repro_minify" -name '*.h' | wc -l) headers compile alone"
}
# Half a minute of a processor; what the example includes is compiled below.
if [ -n "${REPRO_MINIFY_ALL_TESTS:-}" ]; then
  headers_compile_alone
fi

cmake -S "$source/docs/library_example" -B "$work/example" -DCMAKE_PREFIX_PATH="$work/installed" \
  -DTorch_DIR="$torch_dir" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" >"$work/configure.log" 2>&1 ||
  { cat "$work/configure.log"; exit 1; }
cmake --build "$work/example"
"$work/example/library_example" "$source/fixtures/cases/freeze_linear_bn_3d/failing.pt" freeze "$work/out" |
  tee "$work/out.txt"
grep -q 'operators to 2 in' "$work/out.txt"
test -s "$work/out/repro.cpp"
# It refuses as the program does, with a sentence and no stack trace.
"$work/example/library_example" nowhere.pt freeze "$work/out2" 2>"$work/refused.txt" && exit 1
grep -q 'nowhere.pt' "$work/refused.txt"
