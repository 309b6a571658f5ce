// Guesses cost one question each. Most come from outside (a window around a suspect); where the operators are known,
// one example of each repeated piece is another.
#include "program/dataflow/dataflow.h"
#include "reduce/search/index_sets.h"
#include "reduce/search/questioner.h"
#include "reduce/search/repeats.h"
#include "reduce/search/search_stages.h"

#include <cstddef>

namespace repro_minify {
namespace {
constexpr double chance_of_guess = 0.5;
constexpr double chance_of_collapse = 0.3;
/// Below, bisecting is done as soon.
constexpr std::size_t worth_collapsing = 100;
} // namespace

Stage advance(const TryGuesses &stage, const SearchContext &context, Questioner &questioner) {
  if (stage.next == context.options.guesses.size())
    return CollapseRepeats{stage.kept};
  // An earlier guess may have come true: what this one means is what it would leave of the set as it is now.
  const IndexSet guess = intersect(sorted_set(context.options.guesses[stage.next]), stage.kept);
  const bool worth_asking = !guess.empty() && guess.size() < stage.kept.size();
  const bool right = worth_asking && questioner.fails(guess, chance_of_guess);
  return TryGuesses{right ? guess : stage.kept, stage.next + 1};
}

Stage advance(const CollapseRepeats &stage, const SearchContext &context, Questioner &questioner) {
  if (context.options.labels.empty() || stage.kept.size() <= worth_collapsing)
    return find_first_anchor(stage.kept, context);
  const IndexSet examples = one_of_each_repeat(context.dataflow, context.options.labels, stage.kept);
  const bool right = examples.size() * 2 < stage.kept.size() && questioner.fails(examples, chance_of_collapse);
  return find_first_anchor(right ? examples : stage.kept, context);
}

} // namespace repro_minify
