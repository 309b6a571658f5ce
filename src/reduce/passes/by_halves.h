// One edit for each of several places: all of them at once, then by halves, down to one by one.
#pragma once
#include "reduce/passes/pass.h"

#include <optional>
#include <vector>

namespace repro_minify {

/// Offers what `make(program, places)` makes of `items` and, where it is turned down, of each half of them. What is
/// made of one half is made of the Program that the other half has left. Nothing made: nothing is asked. True if
/// anything was accepted.
template <typename Item, typename Make>
bool accept_by_halves(PassContext &context, const std::vector<Item> &items, const Make &make) {
  if (items.empty())
    return false;
  if (const std::optional<Program> candidate = make(context.current, items); candidate && context.accept(*candidate))
    return true;
  if (items.size() == 1)
    return false;
  const auto half = items.begin() + static_cast<std::ptrdiff_t>((items.size() + 1) / 2);
  const std::vector<Item> first(items.begin(), half), second(half, items.end());
  const bool any = accept_by_halves(context, first, make);
  return accept_by_halves(context, second, make) || any;
}

} // namespace repro_minify
