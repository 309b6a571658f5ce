#include "reduce/passes/in_bulk.h"

#include <cstddef>

namespace repro_minify {

bool accept_in_bulk(PassContext &context, size_t count, const WithEdits &with, bool all_at_once) {
  std::vector<size_t> accepted;
  // Ranges come in ascending order.
  const std::function<void(size_t, size_t, bool)> try_range = [&](size_t begin, size_t end, bool as_a_whole) {
    std::vector<size_t> edits = accepted;
    for (size_t i = begin; i < end; ++i)
      edits.push_back(i);
    if (as_a_whole && begin < end && context.try_candidate(with(edits))) {
      accepted = edits;
      return;
    }
    if (end - begin < 2)
      return;
    const size_t middle = begin + (end - begin) / 2;
    try_range(begin, middle, true);
    try_range(middle, end, true);
  };
  try_range(0, count, all_at_once);
  return !accepted.empty();
}

} // namespace repro_minify
