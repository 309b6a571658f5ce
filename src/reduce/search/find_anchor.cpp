// Binary search for the shortest failing prefix of a line, in sets that get small early.
//
// A prefix is as large as all that comes before the place in question. What a failure needs is mostly close together,
// though, so that the nodes in question with their surroundings (a window) often fail on their own. Where a window
// fails it becomes the set. Where it passes the search goes on as if its prefix had passed, until that belief has
// missed often enough to be put to the test.
#include "program/dataflow/dataflow.h"
#include "reduce/search/index_sets.h"
#include "reduce/search/lineup.h"
#include "reduce/search/questioner.h"
#include "reduce/search/search_stages.h"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace repro_minify {
namespace {

using Place = FindAnchor::Place;

/// Hops that are kept around a window: a failure seldom needs its last node alone.
constexpr int halo_hops = 2;
/// A window must save that many nodes. A check has a fixed cost as well (a process, a compiler to warm up), about that
/// of some hundred nodes, so that below it the extra question costs more than smaller programs can save.
constexpr std::size_t worthwhile_saving = 512;
/// How many windows may pass before the belief behind them is tested: half of them pass where it is right.
constexpr int misses_before_test = 2;
constexpr double chance_of_place = 0.8;
constexpr double chance_of_half = 0.5;
/// The nodes that are far away are halved once they are more than that many times the nodes in question.
constexpr std::size_t much_further = 8;

bool worthwhile(std::size_t size, std::size_t instead_of) {
  return size * 2 < instead_of && size + worthwhile_saving <= instead_of;
}

std::size_t shortest_open(const FindAnchor &stage) {
  return static_cast<std::size_t>(stage.passing + 1);
}

/// The prefix of length `end` with only the surroundings of what is in question; empty where that would not be much
/// smaller.
IndexSet window(const FindAnchor &stage, std::size_t end, const SearchContext &context) {
  if (stage.passing <= 0)
    return {};
  const auto begin = static_cast<std::size_t>(stage.passing);
  if (!worthwhile(2 * (end - begin), end))
    return {};
  const IndexSet centre = sorted_set(stage.line->nodes(begin, end));
  IndexSet within = stage.line->prefix(end);
  IndexSet result = unite(context.dataflow.ball(centre, halo_hops, within), stage.line->always());
  return worthwhile(result.size(), end) ? result : IndexSet{};
}

/// After a part of the first `length` was seen failing: the same nodes are in question, in a smaller set.
FindAnchor narrowed(const FindAnchor &stage, std::size_t length, const IndexSet &kept) {
  FindAnchor next = stage;
  next.line = std::make_shared<const Lineup>(stage.line->narrowed(length, kept));
  next.failing = next.line->size();
  next.passing = 0;
  for (std::size_t position = 0; position < static_cast<std::size_t>(stage.passing); ++position)
    next.passing += std::binary_search(kept.begin(), kept.end(), stage.line->at(position)) ? 1 : 0;
  next.certain = next.passing;
  next.misses = 0;
  return next;
}

FindAnchor in_several_places(const FindAnchor &stage) {
  FindAnchor next = stage;
  next.passing = stage.certain;
  next.misses = 0;
  next.place = Place::Several;
  ++next.experience.places;
  return next;
}

/// All that is still in question, with its surroundings: whether the belief holds.
Stage confirm_window(const FindAnchor &stage, const SearchContext &context, Questioner &questioner) {
  const IndexSet all = window(stage, stage.failing, context);
  if (all.empty() || !questioner.fails(all, chance_of_place))
    return in_several_places(stage);
  FindAnchor next = narrowed(stage, stage.failing, all);
  next.place = Place::One;
  return next;
}

Stage halve(const FindAnchor &stage, const SearchContext &context, Questioner &questioner) {
  const std::size_t shortest = shortest_open(stage);
  const std::size_t middle = stage.line->split(shortest, stage.failing);
  const double chance = stage.line->mass(shortest, middle) / stage.line->mass(shortest, stage.failing);
  const IndexSet part = stage.place == Place::Several ? IndexSet{} : window(stage, middle, context);
  if (!part.empty()) {
    if (questioner.fails(part, chance_of_place * chance)) {
      FindAnchor next = narrowed(stage, middle, part);
      next.place = Place::One;
      return next;
    }
    FindAnchor next = stage;
    next.passing = static_cast<std::ptrdiff_t>(middle);
    ++next.misses;
    return next;
  }
  FindAnchor next = stage;
  if (questioner.fails(stage.line->prefix(middle), chance))
    next.failing = middle;
  else {
    next.passing = static_cast<std::ptrdiff_t>(middle);
    next.certain = next.passing; // and with it what windows made believe of shorter ones
    next.misses = 0;
  }
  return next;
}

/// True if it is worthwhile to look for a half of what is far from the place in question that is enough.
bool halves_worthwhile(const FindAnchor &stage) {
  const auto passing = static_cast<std::size_t>(std::max<std::ptrdiff_t>(stage.passing, 0));
  return stage.place == Place::Several && stage.half < 2 && stage.experience.halves_help &&
         passing >= 2 * worthwhile_saving && (stage.failing - passing) * much_further < passing;
}

Stage keep_half(const FindAnchor &stage, Questioner &questioner) {
  const auto passing = static_cast<std::size_t>(stage.passing);
  const IndexSet kept = stage.half == 0
                            ? stage.line->slice(passing / 2, stage.failing)
                            : unite(stage.line->prefix(passing / 2), stage.line->slice(passing, stage.failing));
  FindAnchor next = stage;
  if (questioner.fails(kept, chance_of_half)) {
    next = narrowed(stage, stage.failing, kept);
    next.half = 0;
  } else if (++next.half == 2)
    next.experience.halves_help = false;
  return next;
}

} // namespace

Stage advance(const FindAnchor &stage, const SearchContext &context, Questioner &questioner) {
  const bool closed = static_cast<std::ptrdiff_t>(stage.failing) - stage.passing <= 1;
  if (stage.misses > 0 && (closed || stage.misses >= misses_before_test))
    return confirm_window(stage, context, questioner);
  if (closed)
    return after_anchor(stage, context);
  if (halves_worthwhile(stage))
    return keep_half(stage, questioner);
  return halve(stage, context, questioner);
}

} // namespace repro_minify
