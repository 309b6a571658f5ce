// Counter-based delta debugging (CDD), for what locality cannot find. Each element carries the number of failed
// attempts to delete it; the more there were, the likelier it is needed, and the fewer elements are deleted with it at
// once.
#include "core/dataflow.h"
#include "reduce/search_stages.h"

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

constexpr double chance_of_single = 0.05;
constexpr double chance_of_joint = 0.5;

/// Deletes what could go on its own: all of it at once, else half of it, and so on; one at least is known to go.
IndexSet delete_jointly(const Certify &stage, const Questioner &fails) {
  IndexSet gone = stage.removable;
  for (; gone.size() > 1; gone.resize(gone.size() / 2)) {
    IndexSet kept = subtract(stage.kept, gone);
    if (!kept.empty() && fails(kept, chance_of_joint))
      return kept;
  }
  return subtract(stage.kept, gone);
}

} // namespace

Stage advance(const DeleteScattered &stage, const SearchContext &, const Questioner &fails) {
  const std::vector<std::size_t> group = next_group(stage);
  if (group.empty())
    return Certify{stage.kept};
  IndexSet gone;
  for (std::size_t position : group)
    gone.push_back(stage.kept[position]);
  IndexSet kept = subtract(stage.kept, sorted_set(std::move(gone)));
  // The empty set is the certificate's question, and only for a single node.
  if (!kept.empty() && fails(kept, 1 / std::numbers::e))
    return group_deleted(stage, std::move(kept));
  return group_needed(stage, group);
}

// The result is 1-minimal because each single deletion was tried on it, not because the search is clever: what came
// before may have been misled by an oracle that is not monotone.

Stage advance(const Certify &stage, const SearchContext &context, const Questioner &fails) {
  if (!context.options.certify)
    return Finished{stage.kept};
  if (stage.next == stage.kept.size())
    return stage.removable.empty() ? Stage(Finished{stage.kept}) : Stage(Certify{delete_jointly(stage, fails)});
  Certify next = stage;
  ++next.next;
  if (fails(without_position(stage.kept, stage.next), chance_of_single))
    next.removable.push_back(stage.kept[stage.next]);
  return next;
}

} // namespace repro_minify
