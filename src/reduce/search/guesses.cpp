// Guesses come from outside (a window around a suspect, one representative of each repeat): one question each.
#include "reduce/search/index_sets.h"
#include "reduce/search/stages.h"

namespace repro_minify {
namespace {
constexpr double chance_of_guess = 0.5;
}

Stage advance(const TryGuesses &stage, const SearchContext &context, Questioner &questioner) {
  if (stage.next == context.guesses.size())
    return BisectPrefix{stage.kept};
  // An earlier guess may have come true: what this one means is what it would leave of the set as it is now.
  const IndexSet guess = intersect(sorted_set(context.guesses[stage.next]), stage.kept);
  const bool worth_asking = !guess.empty() && guess.size() < stage.kept.size();
  const bool right = worth_asking && questioner.fails(guess, chance_of_guess);
  return TryGuesses{right ? guess : stage.kept, stage.next + 1};
}

} // namespace repro_minify
