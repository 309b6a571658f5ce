// The stages of the search. Each is a plain value: what has been found so far. `advance` asks some questions and
// returns the stage that follows, changing nothing else, so that the same stage can also be run ahead against guessed
// answers.
#pragma once
#include "reduce/search/questioner.h"

#include <cstddef>
#include <variant>
#include <vector>

namespace repro_minify {

/// What stays the same during one search.
struct SearchContext {
  const Dataflow &dataflow;
  const std::vector<IndexSet> &guesses;
  std::vector<int> rank; ///< position of each node in topological order
};

// In every stage `kept` (for GrowAnchors: anchors with rest) was seen failing.

struct TryGuesses {
  IndexSet kept;
  std::size_t next = 0; ///< index of the next guess
};

struct BisectPrefix {
  IndexSet kept;
};

struct GrowAnchors {
  IndexSet anchors; ///< nodes at which an answer changed: needed, if the oracle is monotone
  IndexSet rest;
  int far_in_a_row = 0; ///< anchors that were not where distance said, since the last that was
};

struct DeleteScattered {
  IndexSet kept;
  std::vector<int> failed_tries; ///< one counter per element of `kept`; settled_alone once tried alone
  double first_chance = 0;       ///< how likely an untried element is to be needed
  static constexpr int settled_alone = -1;
};

struct Certify {
  IndexSet kept;
  std::size_t next = 0;    ///< index in `kept` of the next element to try without
  IndexSet removable = {}; ///< elements before `next` that could go, each on its own
};

struct Finished {
  IndexSet kept;
};

using Stage = std::variant<TryGuesses, BisectPrefix, GrowAnchors, DeleteScattered, Certify, Finished>;

Stage advance(const TryGuesses &stage, const SearchContext &context, Questioner &questioner);
Stage advance(const BisectPrefix &stage, const SearchContext &context, Questioner &questioner);
Stage advance(const GrowAnchors &stage, const SearchContext &context, Questioner &questioner);
Stage advance(const DeleteScattered &stage, const SearchContext &context, Questioner &questioner);
Stage advance(const Certify &stage, const SearchContext &context, Questioner &questioner);
Stage advance(const Finished &stage, const SearchContext &context, Questioner &questioner);

Stage advance(const Stage &stage, const SearchContext &context, Questioner &questioner);

} // namespace repro_minify
