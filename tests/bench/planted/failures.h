// The planted failures: rows of the tables.
#pragma once
#include "reduce/search/planted_faults.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace repro_minify::bench {

struct Row {
  std::string name; ///< unique
  std::shared_ptr<const planted::Model> model;
  int needed;
  double bound; ///< questions that any algorithm needs on average; 0: several sets would do, there is no simple one
  bool median;  ///< over the seeds; else the mean
  std::function<planted::Predicate(std::uint64_t seed)> plant;
};

/// The families of faults, on one model of at least that many nodes.
std::vector<Row> family_rows(int nodes);
/// `needed` nodes next to each other in the order of execution, scattered, or in a chain of the dataflow.
std::vector<Row> grid_rows(const std::vector<int> &sizes);

} // namespace repro_minify::bench
