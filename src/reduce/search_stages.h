// How a stage of the search asks about a set, whether it is run for real or ahead of time.
#pragma once
#include "core/dataflow.h"
#include "reduce/search.h"
#include "reduce/search_expectation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace repro_minify {

/// The seam that keeps parallelism out of the algorithms: a stage asks as if there were one worker, and cannot tell
/// whether its answers come from the oracle or from a guess at what the oracle will say. Returns true if `kept` still
/// fails. `chance` is roughly how often such a question is answered yes; it only orders speculation.
using Questioner = std::function<bool(const IndexSet &kept, double chance)>;

// The stages of the search. Each is a plain value: what has been found so far. `advance` asks at most one question and
// returns the stage that follows, changing nothing else, so that the same stage can also be run ahead against guessed
// answers.

/// The data that stay the same during one search.
struct SearchContext {
  const Dataflow &dataflow;
  const SearchOptions &options;
  std::vector<int> rank; ///< position of each node in topological order
};

// In every stage `kept` (in FindAnchor: the anchors with the first `failing` of the line) was seen failing.

struct TryGuesses {
  IndexSet kept;
  std::size_t next = 0; ///< index of the next guess
};

/// Looks for the shortest prefix of a line that fails together with the anchors. Its last node is the next anchor.
struct FindAnchor {
  std::shared_ptr<const Lineup> line; ///< `always` is the anchors
  std::ptrdiff_t passing;             ///< a prefix of that length is believed to pass; -1: not even the anchors alone
  std::size_t failing;                ///< a prefix of that length was seen failing
  std::ptrdiff_t certain;             ///< as `passing`, without the belief that all that is needed is in one place
  int misses = 0;                     ///< windows that passed since `passing` was certain
  enum class Place { Unknown, One, Several } place = Place::Unknown; ///< whether all that is needed is in one place
  int half = 0; ///< which half of what is far away is tried next; 2: neither
  Experience experience = {};
};

/// Many anchors: either much is needed, or answers contradict each other and few of them are.
struct DoubtAnchors {
  IndexSet anchors;
  IndexSet rest;
  Experience experience;
  int tried = 0; ///< anchors that were tried without
};

/// The last few anchors were each the very last in line: either all of the rest is needed, or that was chance.
struct DoubtPath {
  IndexSet anchors;
  IndexSet rest;
  Experience experience;
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

using Stage = std::variant<TryGuesses, FindAnchor, DoubtAnchors, DoubtPath, DeleteScattered, Certify, Finished>;

Stage advance(const TryGuesses &stage, const SearchContext &context, const Questioner &fails);
Stage advance(const FindAnchor &stage, const SearchContext &context, const Questioner &fails);
Stage advance(const DoubtAnchors &stage, const SearchContext &context, const Questioner &fails);
Stage advance(const DoubtPath &stage, const SearchContext &context, const Questioner &fails);
Stage advance(const DeleteScattered &stage, const SearchContext &context, const Questioner &fails);
Stage advance(const Certify &stage, const SearchContext &context, const Questioner &fails);
Stage advance(const Finished &stage, const SearchContext &context, const Questioner &fails);

Stage advance(const Stage &stage, const SearchContext &context, const Questioner &fails);

/// The search for the first anchor, in topological order.
Stage find_first_anchor(const IndexSet &kept, const SearchContext &context);

// Repeated structure: most models are a few kinds of blocks, many times over.

/// Returns a colour for each node, which two nodes share exactly when their surroundings up to `rounds` hops look the
/// same: same labels, read and made in the same way (Weisfeiler-Lehman refinement over both directions of the edges).
/// `labels` names the operator of each node. Colours are 64-bit hashes, the same on every machine.
std::vector<std::uint64_t> structural_colours(const Dataflow &dataflow, const std::vector<std::string> &labels,
                                              int rounds);

/// Returns the first node of each colour within `within` (in topological order), with all that is at most `rounds` hops
/// away inside `within`: a small part that holds an example of every piece of the whole.
IndexSet one_of_each_repeat(const Dataflow &dataflow, const std::vector<std::string> &labels, const IndexSet &within,
                            int rounds = 2);

// Sorted sets of indices, and the answers that the oracle has given on them.

// Small helpers over sorted index sets.

inline IndexSet sorted_set(IndexSet nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

inline IndexSet unite(const IndexSet &left, const IndexSet &right) {
  IndexSet result;
  result.reserve(left.size() + right.size());
  std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(result));
  return result;
}

inline IndexSet intersect(const IndexSet &left, const IndexSet &right) {
  IndexSet result;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(result));
  return result;
}

inline IndexSet subtract(const IndexSet &from, const IndexSet &gone) {
  IndexSet result;
  result.reserve(from.size());
  std::set_difference(from.begin(), from.end(), gone.begin(), gone.end(), std::back_inserter(result));
  return result;
}

inline IndexSet without_position(const IndexSet &from, std::size_t position) {
  IndexSet result;
  result.reserve(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    if (i != position)
      result.push_back(from[i]);
  return result;
}

// The answers that the oracle has given so far.

/// Stands in for a set: thousands of sets of thousands of nodes would not fit in memory. 128 bits, so that two sets
/// share one by chance about as often as a memory cell turns over by itself.
using Fingerprint = std::pair<std::uint64_t, std::uint64_t>;

inline Fingerprint fingerprint(const IndexSet &set) {
  // The finaliser of SplitMix64: every bit of the input changes about half of the output.
  const auto mix = [](std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
  };
  Fingerprint result{0x9e3779b97f4a7c15ULL, 0xd1b54a32d192ed03ULL};
  for (int node : set) {
    const auto word = static_cast<std::uint64_t>(static_cast<std::uint32_t>(node));
    result.first = mix(result.first + word);
    result.second = mix(result.second ^ (word * 0x9e3779b97f4a7c15ULL + 1));
  }
  return result;
}

class Answers {
public:
  std::optional<bool> find(const Fingerprint &set) const {
    const auto found = answers_.find(set);
    return found == answers_.end() ? std::nullopt : std::optional<bool>(found->second);
  }
  void remember(const Fingerprint &set, bool fails) { answers_.emplace(set, fails); }

private:
  struct Hash {
    std::size_t operator()(const Fingerprint &set) const { return static_cast<std::size_t>(set.second); }
  };
  std::unordered_map<Fingerprint, bool, Hash> answers_;
};

} // namespace repro_minify
