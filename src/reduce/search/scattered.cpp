// Counter-based delta debugging (CDD), for what locality cannot find. Each element carries the number of failed
// attempts to delete it; the more there were, the likelier it is needed, and the fewer elements are deleted with it at
// once.
#include "reduce/search/index_sets.h"
#include "reduce/search/questioner.h"
#include "reduce/search/search_stages.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

/// How many elements to delete at once, if each is needed with probability p: the s that maximises the expected gain
/// s * (1-p)^s. After each failed attempt p grows by 1 / (1 - 1/e), which is what that attempt says about its elements.
std::size_t group_size(double first_chance, int failed_tries) {
  const double needed = first_chance / std::pow(1 - 1 / std::numbers::e, failed_tries);
  if (needed >= 0.5)
    return 1;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(-1 / std::log1p(-needed))));
}

/// Positions in `kept` of the next group: the elements that were tried least, in index order.
std::vector<std::size_t> next_group(const DeleteScattered &stage) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < stage.kept.size(); ++i)
    if (stage.failed_tries[i] != DeleteScattered::settled_alone)
      open.push_back(i);
  std::stable_sort(open.begin(), open.end(), [&](std::size_t left, std::size_t right) {
    return stage.failed_tries[left] < stage.failed_tries[right];
  });
  if (!open.empty())
    open.resize(std::min(open.size(), group_size(stage.first_chance, stage.failed_tries[open.front()])));
  return open;
}

Stage group_deleted(const DeleteScattered &stage, IndexSet kept) {
  DeleteScattered next{std::move(kept), {}, stage.first_chance};
  for (std::size_t i = 0, j = 0; i < stage.kept.size() && j < next.kept.size(); ++i)
    if (stage.kept[i] == next.kept[j]) {
      next.failed_tries.push_back(stage.failed_tries[i]);
      ++j;
    }
  return next;
}

Stage group_needed(DeleteScattered stage, const std::vector<std::size_t> &group) {
  for (std::size_t position : group)
    stage.failed_tries[position] =
        group.size() == 1 ? DeleteScattered::settled_alone : stage.failed_tries[position] + 1;
  return stage;
}

} // namespace

Stage advance(const DeleteScattered &stage, const SearchContext &, Questioner &questioner) {
  const std::vector<std::size_t> group = next_group(stage);
  if (group.empty())
    return Certify{stage.kept};
  IndexSet gone;
  for (std::size_t position : group)
    gone.push_back(stage.kept[position]);
  IndexSet kept = subtract(stage.kept, sorted_set(std::move(gone)));
  // The empty set is the certificate's question, and only for a single node.
  if (!kept.empty() && questioner.fails(kept, 1 / std::numbers::e))
    return group_deleted(stage, std::move(kept));
  return group_needed(stage, group);
}

} // namespace repro_minify
