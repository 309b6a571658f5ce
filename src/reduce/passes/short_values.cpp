// Short values: data that no formula replaces gets few digits, or nothing but its extremes, so that it is a short
// literal.
#include "reduce/passes/pass.h"

#include "core/number_text.h"
#include "program/formula.h"
#include "reduce/passes/order.h"
#include "reduce/passes/remake_input.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>

namespace repro_minify {
namespace {

using Elements = std::vector<double>;

/// NaN and Inf; where there are none, the largest.
Elements only_extremes(const Elements &elements, double rest) {
  const bool all_finite = std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x); });
  double largest = 0;
  for (double x : elements)
    largest = std::max(largest, std::abs(x));
  Elements result = elements;
  for (double &x : result)
    if (std::isfinite(x) && !(all_finite && std::abs(x) == largest))
      x = rest;
  return result;
}

/// Only the signs.
Elements signs(const Elements &elements) {
  Elements result = elements;
  for (double &x : result)
    if (std::isfinite(x) && x != 0)
      x = x > 0 ? 1 : -1;
  return result;
}

Elements rounded_elements(const Elements &elements, int digits) {
  Elements result = elements;
  for (double &x : result)
    x = rounded(x, digits);
  return result;
}

using Change = std::function<Elements(const Elements &)>;

/// Returns the input with changed elements, or as it is where that is no simpler; nothing where it cannot be changed.
std::optional<ProgramInput> changed(const ProgramInput &input, const Change &change) {
  const auto elements = elements_of(input.value.toTensor(), most_plain_elements);
  auto result = elements ? with_elements(input, change(*elements)) : std::nullopt;
  return result && difficulty(*result) >= difficulty(input) ? input : result;
}

bool accept_shorter(PassContext &context, const std::vector<size_t> &which) {
  const std::vector<Change> changes = {
      [](const Elements &elements) { return only_extremes(elements, 0); },
      [](const Elements &elements) { return only_extremes(elements, 1); },
      signs,
      [](const Elements &elements) { return rounded_elements(elements, 1); },
      [](const Elements &elements) { return rounded_elements(elements, 2); },
      [](const Elements &elements) { return rounded_elements(elements, 3); },
  };
  std::vector<LazyProgram> candidates;
  for (const auto &change : changes)
    if (const auto candidate =
            with_inputs(context.current, which, [&](size_t i) { return changed(context.current.inputs[i], change); }))
      candidates.push_back([candidate] { return *candidate; });
  return accept_first(context, candidates);
}

} // namespace

void short_values(PassContext &context) {
  const auto data = inputs_where(context.current, [](const ProgramInput &input) {
    const auto &tensor = input.value.toTensor();
    return !input.formula && is_plain(tensor) && tensor.numel() <= most_plain_elements;
  });
  if (data.size() > 1 && accept_shorter(context, data))
    return;
  for (size_t i : data)
    accept_shorter(context, {i});
}

} // namespace repro_minify
