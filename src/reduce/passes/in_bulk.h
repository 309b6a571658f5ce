// Edits of many places at once: all of them, then halves, then each.
#pragma once

#include "reduce/passes/pass.h"

#include <functional>
#include <optional>
#include <vector>

namespace repro_minify {

// One edit for each of several places: all of them at once, then by halves, down to one by one.

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

// Many edits of one kind: all at once, then by halves, so that edits that work cost few checks however many there are.

/// Makes the Program that has these of the edits, ascending, and no others. Always from the same Program, however many
/// have been accepted since: a pass that asks in bulk keeps the one it began with.
using WithEdits = std::function<Program(const std::vector<size_t> &edits)>;

/// Accepts as many of `count` edits as the failure allows, none tried alone that fails to be accepted. True if any was.
/// With `all_at_once` off the first question is about half of them.
bool accept_in_bulk(PassContext &context, size_t count, const WithEdits &with, bool all_at_once = true);

} // namespace repro_minify
