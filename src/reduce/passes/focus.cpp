#include "reduce/passes/focus.h"

#include "check/verdict_text.h"
#include "core/text.h"
#include "program/formula.h"
#include "reduce/passes/order.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>

namespace repro_minify {
namespace {

/// A wrong element of a result and the element of an input that it probably came from: dimensions that are equally
/// large, counted from the last one, mean the same.
Focus::Index aligned(const Focus::Index &wrong, const std::vector<int64_t> &result, at::IntArrayRef sizes) {
  Focus::Index index(sizes.size());
  for (size_t back = 1; back <= sizes.size() && back <= result.size(); ++back)
    if (sizes[sizes.size() - back] == result[result.size() - back])
      index[sizes.size() - back] = wrong[wrong.size() - back];
  return index;
}

/// NaN and Inf before everything else.
int64_t most_extreme(const std::vector<double> &elements) {
  const auto size = [](double x) { return std::isnan(x) ? INFINITY : std::abs(x); };
  return std::max_element(elements.begin(), elements.end(), [&](double a, double b) { return size(a) < size(b); }) -
         elements.begin();
}

} // namespace

int64_t Focus::start(size_t input, size_t dimension, int64_t size, int64_t most) const {
  const Index *index = of(input);
  return index ? std::clamp<int64_t>((*index)[dimension] - most / 2, 0, size - most) : 0;
}

const Focus::Index *Focus::of(size_t input) const {
  const auto found = index_.find(input);
  return found == index_.end() ? nullptr : &found->second;
}

std::vector<Focus> foci_of(const Program &program, const Verdict &verdict) {
  Focus worst, extreme;
  const LeafReport *leaf =
      first_leaf(verdict, [](const LeafReport &each) { return !each.same && each.worst_index >= 0; }).second;
  const std::vector<int64_t> result = leaf && leaf->ref_form ? leaf->ref_form->sizes : std::vector<int64_t>();
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.inputs[i].formula)
      continue;
    const auto &tensor = program.inputs[i].value.toTensor();
    if (leaf && !result.empty())
      worst.set(i, aligned(position_of(leaf->worst_index, result), result, tensor.sizes()));
    const auto elements = elements_of(tensor, most_plain_elements);
    if (elements && !elements->empty())
      extreme.set(i, position_of(most_extreme(*elements), tensor.sizes().vec()));
  }
  std::vector<Focus> foci;
  for (const Focus &focus : {leaf ? worst : extreme, extreme, Focus()})
    if (std::find(foci.begin(), foci.end(), focus) == foci.end())
      foci.push_back(focus);
  return foci;
}

std::optional<double> element_at(const at::Tensor &tensor, const Focus::Index *index) {
  if (!is_plain(tensor) || tensor.numel() == 0)
    return std::nullopt;
  at::Tensor element = tensor.detach();
  for (int64_t d = tensor.dim(); d-- > 0;)
    element = element.select(d, index ? (*index)[d] : 0);
  return elements_of(element, 1)->front();
}

} // namespace repro_minify
