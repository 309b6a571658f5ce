#include "backends/inductor_like/reductions.h"

#include <cstdint>
#include <map>
#include <string>

namespace repro_minify::inductor_like {

std::optional<ReductionRule> reduction_rule(const torch::jit::Node *node) {
  static const std::map<std::string, ReductionRule> table = {
      {"aten::sum", {Fold::Sum, 0, false}},      {"aten::sum.dim_IntList", {Fold::Sum, 1, false}},
      {"aten::mean", {Fold::Sum, 0, true}},      {"aten::mean.dim", {Fold::Sum, 1, true}},
      {"aten::amax", {Fold::Largest, 1, false}}, {"aten::amin", {Fold::Smallest, 1, false}},
      {"aten::max", {Fold::Largest, 0, false}},  {"aten::min", {Fold::Smallest, 0, false}},
      {"aten::prod", {Fold::Product, 0, false}}, {"aten::prod.dim_int", {Fold::Product, 1, false}},
      {"aten::any", {Fold::Any, 0, false}},      {"aten::any.dim", {Fold::Any, 1, false}},
      {"aten::all", {Fold::All, 0, false}},      {"aten::all.dim", {Fold::All, 1, false}}};
  if (!node->maybeSchema())
    return std::nullopt;
  const std::string &overload = node->schema().overload_name();
  const auto found = table.find(node->kind().toQualString() + (overload.empty() ? "" : "." + overload));
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::vector<bool> reduced_dims(const torch::jit::Node *node, const ReductionRule &rule, size_t rank,
                               const Observation &seen) {
  std::vector<int64_t> dims;
  if (rule.dims > 0) {
    const c10::IValue &given = seen.constant(node->input(rule.dims));
    if (given.isInt())
      dims = {given.toInt()};
    else if (given.isIntList())
      dims = given.toIntVector();
  }
  std::vector<bool> reduced(rank, dims.empty());
  for (const int64_t dim : dims)
    if (rank > 0)
      reduced[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim)] = true;
  return reduced;
}

} // namespace repro_minify::inductor_like
