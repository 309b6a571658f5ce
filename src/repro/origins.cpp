// Which node of the original each node of the reduced program was.
#include "repro/value_list.h"

#include <map>
#include <set>
#include <tuple>

namespace repro_minify {
namespace {

/// Cutting keeps names as a rule; where a pass gave a new one, the place in the source tells, in order.
template <typename Key> class Matching {
public:
  Matching(const Analysis &original, Key (*key)(const AnalysisRow &)) : key_(key) {
    for (size_t i = 0; i < original.rows.size(); ++i)
      rows_[key(original.rows[i])].push_back(static_cast<int>(i));
  }

  int find(const AnalysisRow &row, const std::set<int> &taken) const {
    const auto found = rows_.find(key_(row));
    if (found != rows_.end())
      for (const int candidate : found->second)
        if (!taken.contains(candidate))
          return candidate;
    return -1;
  }

private:
  Key (*const key_)(const AnalysisRow &);
  std::map<Key, std::vector<int>> rows_;
};

using Words = std::pair<std::string, std::string>;

} // namespace

std::vector<int> origins(const Analysis &reduced, const Analysis &original) {
  const Matching<Words> by_name(original, [](const AnalysisRow &row) { return Words{row.op, row.value}; });
  const Matching<Words> by_source(original, [](const AnalysisRow &row) { return Words{row.op, row.source}; });
  std::vector<int> result;
  std::set<int> taken;
  for (const auto &row : reduced.rows) {
    int origin = by_name.find(row, taken);
    if (origin < 0 && !row.source.empty())
      origin = by_source.find(row, taken);
    if (origin >= 0)
      taken.insert(origin);
    result.push_back(origin);
  }
  return result;
}

} // namespace repro_minify
