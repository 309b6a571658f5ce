// One edit for each of several places: all of them at once, then by halves, down to one by one.
#pragma once
#include "reduce/passes/pass.h"

#include <optional>
#include <vector>

namespace repro_minify {

/// Asks `accepts(items)` and, where it says no, of each half of them. True if anything was accepted.
template <typename Item, typename Accepts> bool by_halves(const std::vector<Item> &items, const Accepts &accepts) {
  if (items.empty())
    return false;
  if (accepts(items))
    return true;
  if (items.size() == 1)
    return false;
  const auto half = items.begin() + static_cast<std::ptrdiff_t>((items.size() + 1) / 2);
  const std::vector<Item> first(items.begin(), half), second(half, items.end());
  const bool any = by_halves(first, accepts);
  return by_halves(second, accepts) || any;
}

/// Offers what `make(program, items)` makes, as by_halves() asks. What is made of one half is made of the Program that
/// the other half has left. Nothing made: nothing is asked.
template <typename Item, typename Make>
bool accept_by_halves(PassContext &context, const std::vector<Item> &items, const Make &make) {
  return by_halves(items, [&](const std::vector<Item> &some) {
    const std::optional<Program> candidate = make(context.current, some);
    return candidate && context.try_candidate(*candidate);
  });
}

} // namespace repro_minify
