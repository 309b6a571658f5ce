// How long each part of the work around a check takes, by program size: where time outside the oracle goes.
//
//   bench_parts FOLDER    FOLDER/programs.json names the programs (run_fx_minifier.py --scale)
#include "programs.h"

#include "program/cut.h"
#include "reduce/passes/pass.h"

#include <chrono>
#include <cstdio>

namespace repro_minify::bench {
namespace {

template <typename Work> double milliseconds(const Work &work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Every `step`-th of the first `count` atoms.
IndexSet every(int step, int count) {
  IndexSet atoms;
  for (int atom = 0; atom < count; atom += step)
    atoms.push_back(atom);
  return atoms;
}

void measure_cut(const char *what, const Cutter &cutter, const IndexSet &kept) {
  constexpr int repeats = 3;
  double cut = 0, hash = 0, order = 0;
  for (int i = 0; i < repeats; ++i) {
    Program program;
    cut += milliseconds([&] { program = cutter.cut(kept); });
    hash += milliseconds([&] { canonical_hash(program); });
    order += milliseconds([&] { order_of(program); });
    cut += milliseconds([&] { program = {}; });
  }
  std::printf("  %-22s %7zu atoms: cut %8.2f ms, hash %8.2f ms, order %6.2f ms\n", what, kept.size(), cut / repeats,
              hash / repeats, order / repeats);
}

void measure(const PlantedProgram &planted) {
  Program program;
  const double loading = milliseconds([&] { program = load(planted); });
  std::shared_ptr<Recording> recording;
  Limits limits;
  limits.timeout = std::chrono::minutes(10);
  const double recorded = milliseconds([&] { recording = std::make_shared<Recording>(record(program, {}, limits)); });
  std::unique_ptr<Cutter> cutter;
  const double index = milliseconds([&] { cutter = std::make_unique<Cutter>(recording); });
  const double copy = milliseconds([&] { copy_of(program); });
  std::printf("%s: load %.1f ms, record %.1f ms, index %.1f ms, copy %.1f ms\n", planted.name.c_str(), loading,
              recorded, index, copy);
  const int atoms = cutter->atoms();
  measure_cut("all", *cutter, every(1, atoms));
  measure_cut("first half", *cutter, every(1, atoms / 2));
  measure_cut("every second", *cutter, every(2, atoms));
  measure_cut("every tenth", *cutter, every(10, atoms));
  measure_cut("first ten", *cutter, every(1, 10));
}

} // namespace
} // namespace repro_minify::bench

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_parts FOLDER\n");
    return 2;
  }
  for (const auto &planted : repro_minify::bench::planted_programs(argv[1]))
    repro_minify::bench::measure(planted);
}
