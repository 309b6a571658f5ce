#include "reduce/add_up.h"

#include <algorithm>

namespace repro_minify {
namespace {

void add_earlier(PassStatistics &row, const PassStatistics &earlier, bool is_continued) {
  row.runs += earlier.runs;
  row.tried += earlier.tried;
  row.worked += earlier.worked;
  row.checks += earlier.checks;
  row.seconds += earlier.seconds;
  if (is_continued)
    row.operators_removed += earlier.operators_removed;
  if (row.problem.empty())
    row.problem = earlier.problem;
}

} // namespace

Reduction with_earlier(Reduction last, const Reduction &earlier, bool is_continued) {
  last.checks += earlier.checks;
  last.cached += earlier.cached;
  last.speculative += earlier.speculative;
  last.unanswered += earlier.unanswered;
  last.seconds += earlier.seconds;
  last.check_seconds += earlier.check_seconds;
  for (const PassStatistics &row : earlier.passes) {
    auto same = std::find_if(last.passes.begin(), last.passes.end(),
                             [&](const PassStatistics &other) { return other.pass == row.pass; });
    if (same == last.passes.end()) {
      same = last.passes.emplace(last.passes.end());
      same->pass = row.pass;
    }
    add_earlier(*same, row, is_continued);
  }
  return last;
}

} // namespace repro_minify
