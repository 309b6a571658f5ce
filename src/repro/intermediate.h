// The intermediate values of a Program, and Programs that return them. Internal to the pages.
#pragma once

#include "repro_minify/record.h"

#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

struct Intermediate {
  const torch::jit::Value *value; ///< of the recorded graph, made at the top level, a tensor
  int node;                       ///< index of what makes it
  bool is_written_later; ///< an in-place operator changes its memory afterwards: a copy has to be returned instead
};

/// Every tensor made at the top level, in graph order.
std::vector<Intermediate> intermediates(const Recording &recording);

/// Returns all of them, in that order, and nothing else.
Program expose_all(const Recording &recording, const std::vector<Intermediate> &values);

/// The program up to and including what makes `last`, which is all that it returns.
Program prefix(const Recording &recording, const Intermediate &last);

/// The values that an intermediate is made from, directly or through values that are no intermediates.
struct Reads {
  std::vector<int> values; ///< indices of intermediates
  std::vector<int> inputs; ///< indices of the graph's inputs
};
/// For each intermediate.
std::vector<Reads> reads_of(const Recording &recording, const std::vector<Intermediate> &values);

/// "file:line: text" of the model's source, as far as the archive has it; of a call of torch.fx its Python.
std::string source_line(const torch::jit::Node *node);

} // namespace repro_minify
