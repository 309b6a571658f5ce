#include "reduce/search.h"

#include "core/dataflow.h"
#include "reduce/search_futures.h"
#include "reduce/search_stages.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace repro_minify {
namespace {

struct UnansweredSet {
  IndexSet kept;
  Fingerprint key;
  double chance;
};
using Assumed = AssumedAnswers<Fingerprint>;

using StageAt = std::shared_ptr<const Stage>;

/// The likeliest next questions of a search that stands at `from`, likeliest first, at most `count`. The first is the
/// one the search is about to ask. Works by running the search itself ahead against guessed answers, so it cannot drift
/// from what the stages really ask: the one place of the search that knows about speculation.
std::vector<IndexSet> likely_questions(const Stage &from, const SearchContext &context, const Answers &known,
                                       int count) {
  const auto go_on = [&](StageAt &stage, const Assumed &assumed) {
    DryRun<UnansweredSet> dry_run;
    const Questioner fails = [&](const IndexSet &kept, double chance) -> bool {
      const Fingerprint key = fingerprint(kept);
      if (const std::optional<bool> answer = known.find(key))
        return *answer;
      if (const auto found = assumed.find(key); found != assumed.end())
        return found->second;
      dry_run.leave_at({kept, key, chance});
    };
    return dry_run.run([&] {
      while (!std::holds_alternative<Finished>(*stage))
        stage = std::make_shared<const Stage>(advance(*stage, context, fails));
    });
  };
  std::vector<IndexSet> questions;
  // Different futures often lead to the same question; give up on finding more when most do.
  Futures<StageAt, UnansweredSet> futures(std::make_shared<const Stage>(from), 4 * count);
  while (static_cast<int>(questions.size()) < count) {
    auto foreseen = futures.next(go_on);
    if (!foreseen)
      break;
    if (std::find(questions.begin(), questions.end(), foreseen->question.kept) == questions.end())
      questions.push_back(std::move(foreseen->question.kept));
  }
  return questions;
}

/// Asks the oracle, never twice the same, and tells it beforehand what may be asked next.
class SearchRun {
public:
  SearchRun(Oracle &oracle, const SearchContext &context, int width)
      : oracle_(oracle), context_(context), width_(width) {}

  void remember_failing(const IndexSet &kept) { answers_.remember(fingerprint(kept), true); }

  IndexSet run(Stage stage) {
    while (!std::holds_alternative<Finished>(stage)) {
      current_ = &stage;
      Stage next = advance(stage, context_, [this](const IndexSet &kept, double) { return fails(kept); });
      stage = std::move(next);
    }
    return std::get<Finished>(stage).kept;
  }

  bool fails(const IndexSet &kept) {
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

Stage advance(const Finished &stage, const SearchContext &, const Questioner &) {
  return stage;
}

Stage advance(const Stage &stage, const SearchContext &context, const Questioner &fails) {
  return std::visit([&](const auto &current) { return advance(current, context, fails); }, stage);
}

IndexSet minimize(const IndexSet &start, const Dataflow &dataflow, Oracle &oracle, const SearchOptions &options) {
  check(options, dataflow);
  const SearchContext context{dataflow, options, ranks(dataflow)};
  SearchRun interview(oracle, context, options.speculation_width);
  IndexSet kept = sorted_set(start);
  interview.remember_failing(kept);
  // The certificate is the only way out, so the result is 1-minimal whenever there is one.
  Stage first =
      options.mostly_needed && options.certify ? Stage(Certify{std::move(kept)}) : TryGuesses{std::move(kept)};
  return interview.run(std::move(first));
}

} // namespace repro_minify
