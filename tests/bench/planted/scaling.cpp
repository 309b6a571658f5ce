#include "bench/planted/scaling.h"

#include <cmath>
#include <cstdio>

namespace repro_minify::bench {
namespace {

constexpr int workers = 8;

void print(const Measurement &alone, const Measurement &ahead) {
  const double ms = alone.wall * 1e3;
  std::printf("%-20s %8d %8.1f %10.2f %10.3f %14.2f %20.3f\n", alone.name.c_str(), alone.nodes, alone.queries, ms,
              ms / alone.queries, alone.wall * 1e9 / (alone.nodes * std::log2(alone.nodes)),
              ahead.wall * 1e3 / ahead.queries);
}

} // namespace

std::vector<Measurement> measure_scaling(const std::vector<int> &sizes, int seeds) {
  std::printf("\nOne planted failure, mean of %d seeds; the time is the engine's own, outside the oracle\n"
              "%-20s %8s %8s %10s %10s %14s %20s\n",
              seeds, "failure", "nodes", "queries", "ms", "ms/query", "ns/(n log2 n)", "ms/query, 8 workers");
  std::vector<Measurement> results;
  for (const char *family : {"single", "chain3", "far2"})
    for (int size : sizes)
      for (Row &row : family_rows(size)) {
        if (!row.name.ends_with(std::string(" ") + family))
          continue;
        row.name = "scale " + row.name;
        const Measurement alone = measure(our_engine(1), row, seeds, 1 << 20);
        const Measurement ahead = measure(our_engine(workers), row, seeds, 1 << 20);
        print(alone, ahead);
        results.insert(results.end(), {alone, ahead});
      }
  return results;
}

} // namespace repro_minify::bench
