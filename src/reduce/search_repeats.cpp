#include "reduce/search_stages.h"

#include "core/dataflow.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

std::uint64_t hash_of(std::string_view label) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : label)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

std::uint64_t combined(std::uint64_t hash, std::uint64_t next) {
  hash = (hash ^ next) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

/// Adds the colours of a node's neighbours, sorted: how neighbours are numbered says nothing about the node.
std::uint64_t combined_colours(std::uint64_t hash, const IndexSet &nodes, const std::vector<std::uint64_t> &colours) {
  std::vector<std::uint64_t> around;
  for (int node : nodes)
    around.push_back(colours[static_cast<std::size_t>(node)]);
  std::sort(around.begin(), around.end());
  hash = combined(hash, around.size());
  for (std::uint64_t colour : around)
    hash = combined(hash, colour);
  return hash;
}

constexpr double chance_of_guess = 0.5;
constexpr double chance_of_collapse = 0.3;
constexpr std::size_t worth_collapsing = 100; // with fewer nodes bisecting is as quick

/// Returns an example of each repeated piece, where that is much less and enough; else all of `kept`.
IndexSet collapsed(const IndexSet &kept, const SearchContext &context, const Questioner &fails) {
  if (context.options.labels.empty() || kept.size() <= worth_collapsing)
    return kept;
  IndexSet examples = one_of_each_repeat(context.dataflow, context.options.labels, kept);
  return examples.size() * 2 < kept.size() && fails(examples, chance_of_collapse) ? examples : kept;
}

} // namespace

std::vector<std::uint64_t> structural_colours(const Dataflow &dataflow, const std::vector<std::string> &labels,
                                              int rounds) {
  std::vector<std::uint64_t> colours;
  for (const std::string &label : labels)
    colours.push_back(hash_of(label));
  for (; rounds > 0; --rounds) {
    std::vector<std::uint64_t> finer(colours.size());
    for (int node = 0; node < dataflow.size(); ++node) {
      std::uint64_t &colour = finer[static_cast<std::size_t>(node)];
      colour = combined(1, colours[static_cast<std::size_t>(node)]);
      colour = combined_colours(colour, dataflow.producers(node), colours);
      colour = combined_colours(colour, dataflow.consumers(node), colours);
    }
    colours = std::move(finer);
  }
  return colours;
}

IndexSet one_of_each_repeat(const Dataflow &dataflow, const std::vector<std::string> &labels, const IndexSet &within,
                            int rounds) {
  const std::vector<std::uint64_t> colours = structural_colours(dataflow, labels, rounds);
  std::unordered_set<std::uint64_t> seen;
  IndexSet first;
  for (int node : dataflow.topological_order())
    if (std::binary_search(within.begin(), within.end(), node) &&
        seen.insert(colours[static_cast<std::size_t>(node)]).second)
      first.push_back(node);
  std::sort(first.begin(), first.end());
  return dataflow.ball(first, rounds, within);
}

// The first stage of a search: guesses, which cost one question each. The caller gives some (a window around a
// suspect); where operators are known, one example of each repeated piece is another.

Stage advance(const TryGuesses &stage, const SearchContext &context, const Questioner &fails) {
  if (stage.next == context.options.guesses.size())
    return find_first_anchor(collapsed(stage.kept, context, fails), context);
  // An earlier guess may have come true: what this one means is what it would leave of the set as it is now.
  const IndexSet guess = intersect(sorted_set(context.options.guesses[stage.next]), stage.kept);
  const bool worth_asking = !guess.empty() && guess.size() < stage.kept.size();
  const bool right = worth_asking && fails(guess, chance_of_guess);
  return TryGuesses{right ? guess : stage.kept, stage.next + 1};
}

} // namespace repro_minify
