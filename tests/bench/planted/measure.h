// Runs a tool on planted failures and counts.
#pragma once
#include "bench/planted/failures.h"
#include "bench/planted/tools.h"

namespace repro_minify::bench {

struct Measurement {
  std::string name, tool;
  int nodes = 0, needed = 0;
  double left = 0;      ///< nodes in the result
  double queries = 0;   ///< distinct sets asked; the whole program, which is known to fail, is not among them
  double work = 0;      ///< sum of the sizes of all sets asked, in whole programs
  double wall = 0;      ///< seconds outside the oracle, for one reduction
  double bound = 0;     ///< as in Row
  bool gave_up = false; ///< a seed took more than the most queries allowed
};

/// Over that many seeds; a run ends after `most_queries`.
Measurement measure(const Tool &tool, const Row &row, int seeds, int most_queries);

} // namespace repro_minify::bench
