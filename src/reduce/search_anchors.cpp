// From one anchor to the next. The anchors with the rest fail; the rest is put in line by distance from the anchors,
// since what a failure needs is mostly close together.
#include "core/dataflow.h"
#include "reduce/search_expectation.h"
#include "reduce/search_stages.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

/// At that many anchors, and whenever their number has doubled since, some are put to the test.
constexpr std::size_t many_anchors = 7;
constexpr int anchors_tested = 2;
constexpr double chance_of_contradiction = 0.1;
constexpr std::size_t some_ends = 3;
/// Nodes between two anchors are probably needed. The search that certifies asks about so few anyway.
constexpr std::size_t few_left = 3;
/// Where the very last in line was needed so often in a row, a path probably is: cutting takes a few questions for each
/// of its nodes.
constexpr std::size_t ends_of_a_path = 2;
/// That part of the rest is left out to see whether all of it is needed: a few nodes here and there seldom are in it.
constexpr std::size_t part_of_a_path = 8;
constexpr double chance_of_no_path = 0.3;
/// Windows that failed to hold all that is needed, before no more are tried.
constexpr int many_places = 2;

std::vector<double> weights_of(const std::vector<int> &order, const SearchContext &context) {
  const std::vector<double> &weights = context.options.weights;
  std::vector<double> result;
  if (weights.empty())
    return result;
  result.reserve(order.size());
  for (int node : order)
    result.push_back(weights[static_cast<std::size_t>(node)]);
  return result;
}

/// The rest by distance from the anchors; at equal distance the most suspicious first, then the last in topological
/// order, since anchors are found from the end.
std::vector<int> by_distance(const IndexSet &anchors, const IndexSet &rest, const SearchContext &context) {
  const std::vector<int> distance = context.dataflow.undirected_distances(anchors, rest);
  const std::vector<double> &weights = context.options.weights;
  const auto key = [&](int node) {
    const auto at = static_cast<std::size_t>(node);
    return std::tuple(distance[at], weights.empty() ? 0 : -weights[at], -context.rank[at]);
  };
  std::vector<int> order = rest;
  std::sort(order.begin(), order.end(), [&](int left, int right) { return key(left) < key(right); });
  return order;
}

Stage give_up_anchors(const IndexSet &anchors, const IndexSet &rest) {
  IndexSet kept = unite(anchors, rest);
  const double needed = static_cast<double>(std::max<std::size_t>(anchors.size(), 3));
  const double first_chance = needed / static_cast<double>(rest.size());
  std::vector<int> tries(kept.size(), 0);
  return DeleteScattered{std::move(kept), std::move(tries), first_chance};
}

bool doubtful(std::size_t anchors) {
  while (anchors > many_anchors && anchors % 2 == 0)
    anchors /= 2;
  return anchors == many_anchors;
}

/// True if the search stops here, for another one to go on once other ways to make the program smaller were tried.
bool leave_the_rest(std::size_t anchors, std::size_t rest, const SearchContext &context) {
  return !context.options.certify && anchors > 1 && rest <= few_left;
}

bool looks_like_a_path(std::size_t anchors, const Experience &experience, const SearchContext &context) {
  return !context.options.certify && anchors > 1 && experience.ends_in_a_row >= ends_of_a_path;
}

Stage find_next_anchor(const IndexSet &anchors, const IndexSet &rest, const Experience &experience,
                       const SearchContext &context) {
  std::vector<int> order = by_distance(anchors, rest, context);
  std::vector<double> mass = experience.expected_next(rest.size(), anchors.size(), weights_of(order, context));
  auto line = std::make_shared<const Lineup>(std::move(order), anchors, std::move(mass));
  FindAnchor next{std::move(line), -1, rest.size(), -1};
  next.experience = experience;
  if (experience.places >= many_places)
    next.place = FindAnchor::Place::Several;
  return next;
}

// Binary search for the shortest failing prefix of a line, in sets that get small early.
//
// A prefix is as large as all that comes before the place in question. What a failure needs is mostly close together,
// though, so that the nodes in question with their surroundings (a window) often fail on their own. Where a window
// fails it becomes the set. Where it passes the search goes on as if its prefix had passed, until that belief has
// missed often enough to be put to the test.

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
Stage confirm_window(const FindAnchor &stage, const SearchContext &context, const Questioner &fails) {
  const IndexSet all = window(stage, stage.failing, context);
  if (all.empty() || !fails(all, chance_of_place))
    return in_several_places(stage);
  FindAnchor next = narrowed(stage, stage.failing, all);
  next.place = Place::One;
  return next;
}

Stage halve(const FindAnchor &stage, const SearchContext &context, const Questioner &fails) {
  const std::size_t shortest = shortest_open(stage);
  const std::size_t middle = stage.line->split(shortest, stage.failing);
  const double chance = stage.line->mass(shortest, middle) / stage.line->mass(shortest, stage.failing);
  const IndexSet part = stage.place == Place::Several ? IndexSet{} : window(stage, middle, context);
  if (!part.empty()) {
    if (fails(part, chance_of_place * chance)) {
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
  if (fails(stage.line->prefix(middle), chance))
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

Stage keep_half(const FindAnchor &stage, const Questioner &fails) {
  const auto passing = static_cast<std::size_t>(stage.passing);
  const IndexSet kept = stage.half == 0
                            ? stage.line->slice(passing / 2, stage.failing)
                            : unite(stage.line->prefix(passing / 2), stage.line->slice(passing, stage.failing));
  FindAnchor next = stage;
  if (fails(kept, chance_of_half)) {
    next = narrowed(stage, stage.failing, kept);
    next.half = 0;
  } else if (++next.half == 2)
    next.experience.halves_help = false;
  return next;
}

/// Returns the stage that follows once the shortest failing prefix is known.
Stage after_anchor(const FindAnchor &stage, const SearchContext &context) {
  if (stage.failing == 0)
    return Certify{stage.line->always()};
  const IndexSet anchors = unite(stage.line->always(), {stage.line->at(stage.failing - 1)});
  const IndexSet rest = sorted_set(stage.line->nodes(0, stage.failing - 1));
  Experience experience = stage.experience;
  if (stage.line->always().empty())
    experience.learn_first(stage.failing, stage.line->size());
  else
    experience.learn_next(stage.failing, stage.line->size(), stage.line->always().size());
  // Where nothing could be cut for as many anchors as there are nodes left, these are probably needed as well, and the
  // certificate asks that anyway.
  if (rest.empty() || (experience.ends_in_a_row >= some_ends && experience.ends_in_a_row >= rest.size()) ||
      leave_the_rest(anchors.size(), rest.size(), context))
    return Certify{unite(anchors, rest)};
  if (looks_like_a_path(anchors.size(), experience, context))
    return DoubtPath{anchors, rest, experience};
  if (doubtful(anchors.size()))
    return DoubtAnchors{anchors, rest, experience};
  return find_next_anchor(anchors, rest, experience, context);
}

} // namespace

Stage find_first_anchor(const IndexSet &kept, const SearchContext &context) {
  if (kept.size() < 2)
    return Certify{kept};
  std::vector<int> order = kept;
  std::sort(order.begin(), order.end(), [&](int left, int right) {
    return context.rank[static_cast<std::size_t>(left)] < context.rank[static_cast<std::size_t>(right)];
  });
  std::vector<double> mass = expected_first(kept.size(), weights_of(order, context));
  // The empty set is not asked about here: only the certificate may propose it.
  return FindAnchor{std::make_shared<const Lineup>(std::move(order), IndexSet{}, std::move(mass)), 0, kept.size(), 0};
}

Stage advance(const DoubtAnchors &stage, const SearchContext &context, const Questioner &fails) {
  if (stage.tried == anchors_tested)
    return find_next_anchor(stage.anchors, stage.rest, stage.experience, context);
  const std::size_t position = stage.anchors.size() * static_cast<std::size_t>(stage.tried + 1) / (anchors_tested + 1);
  const IndexSet others = without_position(stage.anchors, position);
  if (fails(unite(others, stage.rest), chance_of_contradiction))
    return give_up_anchors(others, stage.rest);
  DoubtAnchors next = stage;
  ++next.tried;
  return next;
}

Stage advance(const DoubtPath &stage, const SearchContext &context, const Questioner &fails) {
  const auto begin = stage.rest.begin() + static_cast<std::ptrdiff_t>(stage.rest.size() / 2);
  const IndexSet without(
      begin, begin + static_cast<std::ptrdiff_t>(std::max<std::size_t>(stage.rest.size() / part_of_a_path, 1)));
  const IndexSet rest = subtract(stage.rest, without);
  if (!fails(unite(stage.anchors, rest), chance_of_no_path))
    return Certify{unite(stage.anchors, stage.rest)};
  Experience experience = stage.experience;
  experience.ends_in_a_row = 0;
  return find_next_anchor(stage.anchors, rest, experience, context);
}

Stage advance(const FindAnchor &stage, const SearchContext &context, const Questioner &fails) {
  const bool closed = static_cast<std::ptrdiff_t>(stage.failing) - stage.passing <= 1;
  if (stage.misses > 0 && (closed || stage.misses >= misses_before_test))
    return confirm_window(stage, context, fails);
  if (closed)
    return after_anchor(stage, context);
  if (halves_worthwhile(stage))
    return keep_half(stage, fails);
  return halve(stage, context, fails);
}

} // namespace repro_minify
