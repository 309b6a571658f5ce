#include "reduce/search/bracket.h"

#include <algorithm>
#include <utility>

namespace repro_minify {
namespace {

constexpr double chance_of_half = 0.5;
constexpr double chance_of_window = 0.7;
constexpr int steps_between_windows = 3;
/// Hops that are kept around a window: a failure seldom needs its last node alone.
constexpr int halo_hops = 2;
/// A window must save that many nodes. A check has a fixed cost as well (a process, a compiler to warm up), about that
/// of some hundred nodes, so that below it the extra question costs more than smaller programs can save.
constexpr std::size_t worthwhile_saving = 512;

void halve(Bracket &bracket, Questioner &questioner) {
  const std::size_t middle = bracket.passing + (bracket.failing - bracket.passing) / 2;
  (questioner.fails(bracket.order.prefix(middle), chance_of_half) ? bracket.failing : bracket.passing) = middle;
}

bool worthwhile(std::size_t size, const Bracket &bracket) {
  return size * 2 < bracket.failing && size + worthwhile_saving <= bracket.failing;
}

/// The nodes in question with their surroundings; nothing where that would not be much smaller than the prefix.
IndexSet window_of(const Bracket &bracket, const Dataflow &dataflow) {
  const std::size_t in_question = bracket.failing - bracket.passing;
  if (bracket.passing == 0 || in_question < 2 || !worthwhile(2 * in_question, bracket))
    return {};
  IndexSet window = dataflow.ball(bracket.order.slice(bracket.passing, bracket.failing), halo_hops,
                                  bracket.order.prefix(bracket.failing));
  return worthwhile(window.size(), bracket) ? window : IndexSet{};
}

/// After a window was seen failing: the same nodes are in question, in a much smaller set.
Bracket narrowed_to(const IndexSet &window, const Bracket &bracket) {
  std::vector<int> order;
  std::size_t passing = 0;
  for (std::size_t position = 0; position < bracket.failing; ++position) {
    if (position == bracket.passing)
      passing = order.size();
    if (std::binary_search(window.begin(), window.end(), bracket.order.at(position)))
      order.push_back(bracket.order.at(position));
  }
  const std::size_t failing = order.size();
  return Bracket{NodeOrder(std::move(order), bracket.order.always()), passing, failing};
}

} // namespace

void close(Bracket &bracket, const Dataflow &dataflow, Questioner &questioner) {
  int gap = steps_between_windows;
  int steps_left = gap;
  while (bracket.failing - bracket.passing > 1) {
    halve(bracket, questioner);
    if (--steps_left > 0)
      continue;
    const IndexSet window = window_of(bracket, dataflow);
    if (window.empty())
      continue;
    if (questioner.fails(window, chance_of_window)) {
      bracket = narrowed_to(window, bracket);
      gap = steps_between_windows;
    } else {
      gap *= 2; // something far away is needed as well, which a slightly smaller window will lack too
    }
    steps_left = gap;
  }
}

} // namespace repro_minify
