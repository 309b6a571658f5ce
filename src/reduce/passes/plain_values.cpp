// Plain values: recorded data becomes something a person can write down, so that the repro needs no data file. Ones,
// zeros, a count, a seeded randn or rand; for all inputs at once first, then one by one.
#include "reduce/passes/pass.h"

#include "program/formula.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

/// The input as `formula` makes it, contiguous, its storage its own; nothing when the formula does not fit its dtype.
std::optional<ProgramInput> rewritten(const ProgramInput &input, const std::string &formula) {
  const auto &old = input.value.toTensor();
  auto value = tensor_from_formula(formula, old.sizes().vec(), old.scalar_type());
  if (!value)
    return std::nullopt;
  if (old.requires_grad())
    value->set_requires_grad(true);
  ProgramInput result = input;
  result.value = *value;
  result.formula = formula;
  return result;
}

std::optional<Program> with_formula(const Program &program, const std::vector<size_t> &which,
                                    const std::string &formula) {
  Program result = program; // the graph is shared: only values change
  for (size_t i : which) {
    auto input = rewritten(program.inputs[i],
                           formula == "randn" || formula == "rand" ? formula + ":" + std::to_string(i) : formula);
    if (!input)
      return std::nullopt;
    result.inputs[i] = std::move(*input);
  }
  return result;
}

} // namespace

bool plain_values(PassContext &context) {
  std::vector<size_t> data;
  for (size_t i = 0; i < context.current.inputs.size(); ++i)
    if (context.current.inputs[i].formula.empty())
      data.push_back(i);
  std::vector<std::vector<size_t>> groups;
  if (data.size() > 1)
    groups.push_back(data);
  for (size_t i : data)
    groups.push_back({i});
  bool any = false;
  for (const auto &group : groups) {
    std::vector<Judge::LazyProgram> candidates;
    for (const char *formula : {"ones", "zeros", "arange", "randn", "rand"})
      if (const auto candidate = with_formula(context.current, group, formula))
        candidates.push_back([candidate] { return *candidate; });
    if (!accept_first(context, candidates))
      continue;
    any = true;
    if (group.size() > 1)
      return true; // all of them at once
  }
  return any;
}

} // namespace repro_minify
