// Golden tests of single passes: a program in, the program that comes out and the number of checks it took. A change of
// either is a change of what users get, and has to be meant.
#pragma once
#include "program/program_from.h"
#include "reduce/passes/pass.h"
#include "reduce/structural_oracle.h"
#include "repro_minify/record.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify::testing_support {

/// A process that forks must never have entered an OpenMP region.
inline const bool one_thread = (at::set_num_threads(1), true);

struct GoldenResult {
  std::string graph; ///< Graph::toString without source positions
  int checks = 0;
  Reduction reduction;
};

/// Reduces with this one pass until it finds nothing more.
inline GoldenResult run_pass(const std::string &pass, const Program &program, const Predicate &interesting) {
  ReduceOptions options;
  options.passes.only = {pass};
  options.limits.timeout = std::chrono::minutes(1);
  Reduction reduction = reduce_structurally(program, interesting, options);
  return {reduction.program.graph->toString(false), reduction.checks, std::move(reduction)};
}

inline int operators(const GoldenResult &result) {
  return size_of(result.reduction.program).operators;
}

/// How many nodes of this kind ("aten::relu") the program has, nested ones included.
inline int count(const Program &program, const std::string &kind) {
  const auto nodes = all_nodes(*program.graph);
  return static_cast<int>(std::count_if(
      nodes.begin(), nodes.end(), [&](const auto *node) { return node->kind() == c10::Symbol::fromQualString(kind); }));
}

} // namespace repro_minify::testing_support
