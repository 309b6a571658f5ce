// The result is 1-minimal because each single deletion was tried on it, not because the search is clever: what came
// before may have been misled by an oracle that is not monotone.
#include "program/dataflow/dataflow.h"
#include "reduce/search/index_sets.h"
#include "reduce/search/questioner.h"
#include "reduce/search/search_stages.h"

namespace repro_minify {
namespace {

constexpr double chance_of_single = 0.05;
constexpr double chance_of_joint = 0.5;

/// Deletes what could go on its own: all of it at once, else half of it, and so on; one at least is known to go.
IndexSet delete_jointly(const Certify &stage, Questioner &questioner) {
  IndexSet gone = stage.removable;
  for (; gone.size() > 1; gone.resize(gone.size() / 2)) {
    IndexSet kept = subtract(stage.kept, gone);
    if (!kept.empty() && questioner.fails(kept, chance_of_joint))
      return kept;
  }
  return subtract(stage.kept, gone);
}

} // namespace

Stage advance(const Certify &stage, const SearchContext &context, Questioner &questioner) {
  if (!context.options.certify)
    return Finished{stage.kept};
  if (stage.next == stage.kept.size())
    return stage.removable.empty() ? Stage(Finished{stage.kept}) : Stage(Certify{delete_jointly(stage, questioner)});
  Certify next = stage;
  ++next.next;
  if (questioner.fails(without_position(stage.kept, stage.next), chance_of_single))
    next.removable.push_back(stage.kept[stage.next]);
  return next;
}

} // namespace repro_minify
