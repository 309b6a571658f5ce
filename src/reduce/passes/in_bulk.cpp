#include "reduce/passes/in_bulk.h"

#include <algorithm>

namespace repro_minify {
namespace {

class Bulk {
public:
  Bulk(PassContext &context, const WithEdits &with) : context_(context), with_(with) {}

  void try_range(size_t begin, size_t end) {
    if (begin == end)
      return;
    if (context_.try_candidate(with_(accepted_and(begin, end))))
      accepted_ = accepted_and(begin, end);
    else
      try_halves(begin, end);
  }

  void try_halves(size_t begin, size_t end) {
    if (end - begin < 2)
      return;
    const size_t middle = begin + (end - begin) / 2;
    try_range(begin, middle);
    try_range(middle, end);
  }

  bool any() const { return !accepted_.empty(); }

private:
  /// Ranges come in ascending order.
  std::vector<size_t> accepted_and(size_t begin, size_t end) const {
    std::vector<size_t> edits = accepted_;
    for (size_t i = begin; i < end; ++i)
      edits.push_back(i);
    return edits;
  }

  PassContext &context_;
  const WithEdits &with_;
  std::vector<size_t> accepted_;
};

} // namespace

bool accept_in_bulk(PassContext &context, size_t count, const WithEdits &with, bool all_at_once) {
  Bulk bulk(context, with);
  if (all_at_once)
    bulk.try_range(0, count);
  else
    bulk.try_halves(0, count);
  return bulk.any();
}

} // namespace repro_minify
