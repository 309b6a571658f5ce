// Many edits of one kind: all at once, then by halves, down to each alone, so that edits that work cost few checks
// however many there are.
#pragma once

#include "reduce/passes/pass.h"

#include <functional>
#include <optional>
#include <vector>

namespace repro_minify {

/// Calls `accepts(items)` and, where that returns false, does the same with each half of them.
template <typename Item, typename Accepts> void by_halves(const std::vector<Item> &items, const Accepts &accepts) {
  if (items.empty() || accepts(items) || items.size() == 1)
    return;
  const auto half = items.begin() + static_cast<std::ptrdiff_t>((items.size() + 1) / 2);
  by_halves(std::vector<Item>(items.begin(), half), accepts);
  by_halves(std::vector<Item>(half, items.end()), accepts);
}

/// Offers the candidates that `make(context.current, items)` returns, by halves: the second half is made from the
/// Program that the first one has left. Nothing is asked where `make` returns nothing.
template <typename Item, typename Make>
void accept_by_halves(PassContext &context, const std::vector<Item> &items, const Make &make) {
  by_halves(items, [&](const std::vector<Item> &some) {
    const std::optional<Program> candidate = make(context.current, some);
    return candidate && context.try_candidate(*candidate);
  });
}

/// Makes the Program with these edits, ascending, and no others. It starts from the same Program in every call, however
/// many edits have been accepted since: a pass that uses accept_in_bulk() keeps a copy of the one it began with.
using WithEdits = std::function<Program(const std::vector<size_t> &edits)>;

/// Accepts edits until each of the `count` is accepted or was turned down alone, beside those accepted before it.
/// Returns true if any was accepted. With `all_at_once` off the first candidate has half of them.
bool accept_in_bulk(PassContext &context, size_t count, const WithEdits &with, bool all_at_once = true);

} // namespace repro_minify
