#include "reduce/search/search.h"

#include "program/dataflow/dataflow.h"
#include "reduce/search/answers.h"
#include "reduce/search/index_sets.h"
#include "reduce/search/look_ahead.h"
#include "reduce/search/questioner.h"
#include "reduce/search/search_stages.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace repro_minify {
namespace {

/// Asks the oracle, never twice the same, and tells it beforehand what may be asked next.
class SearchRun final : public Questioner {
public:
  SearchRun(Oracle &oracle, const SearchContext &context, int width)
      : oracle_(oracle), context_(context), width_(width) {}

  void remember_failing(const IndexSet &kept) { answers_.remember(fingerprint(kept), true); }

  IndexSet run(Stage stage) {
    while (!std::holds_alternative<Finished>(stage)) {
      current_ = &stage;
      Stage next = advance(stage, context_, *this);
      stage = std::move(next);
    }
    return std::get<Finished>(stage).kept;
  }

  bool fails(const IndexSet &kept, double) override {
    const Fingerprint key = fingerprint(kept);
    if (const std::optional<bool> answer = answers_.find(key))
      return *answer;
    if (width_ > 1)
      oracle_.speculate(likely_questions(*current_, context_, answers_, width_));
    const bool answer = oracle_.fails(kept);
    answers_.remember(key, answer);
    return answer;
  }

private:
  Oracle &oracle_;
  const SearchContext &context_;
  const int width_;
  Answers answers_;
  const Stage *current_ = nullptr;
};

std::vector<int> ranks(const Dataflow &dataflow) {
  const std::vector<int> &order = dataflow.topological_order();
  std::vector<int> rank(order.size());
  for (std::size_t position = 0; position < order.size(); ++position)
    rank[static_cast<std::size_t>(order[position])] = static_cast<int>(position);
  return rank;
}

void check(const SearchOptions &options, const Dataflow &dataflow) {
  const auto nodes = static_cast<std::size_t>(dataflow.size());
  if (!options.weights.empty() && options.weights.size() != nodes)
    throw std::invalid_argument("a search takes one weight per node, or none");
  if (!options.labels.empty() && options.labels.size() != nodes)
    throw std::invalid_argument("a search takes one label per node, or none");
  for (double weight : options.weights)
    if (!(weight >= 0) || std::isinf(weight))
      throw std::invalid_argument("a weight of a search is a finite number of 0 or more");
}

} // namespace

Stage advance(const Finished &stage, const SearchContext &, Questioner &) {
  return stage;
}

Stage advance(const Stage &stage, const SearchContext &context, Questioner &questioner) {
  return std::visit([&](const auto &current) { return advance(current, context, questioner); }, stage);
}

SearchResult minimize(const IndexSet &start, const Dataflow &dataflow, Oracle &oracle, const SearchOptions &options) {
  check(options, dataflow);
  const SearchContext context{dataflow, options, ranks(dataflow)};
  SearchRun interview(oracle, context, options.speculation_width);
  IndexSet kept = sorted_set(start);
  interview.remember_failing(kept);
  // The certificate is the only way out, so the result is 1-minimal whenever there is one.
  Stage first =
      options.mostly_needed && options.certify ? Stage(Certify{std::move(kept)}) : TryGuesses{std::move(kept)};
  return SearchResult{interview.run(std::move(first)), options.certify};
}

} // namespace repro_minify
