#include "reduce/search/look_ahead.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

namespace repro_minify {
namespace {

/// One possible future: where the search stands after answers that are assumed, and how likely they are together.
struct Future {
  double probability;
  std::shared_ptr<const Stage> stage;
  std::vector<std::pair<Fingerprint, bool>> assumed;
};

struct LessLikely {
  bool operator()(const Future &left, const Future &right) const { return left.probability < right.probability; }
};

struct OpenQuestion {
  IndexSet kept;
  Fingerprint key;
  double chance;
};

/// Answers from what is known and assumed, and leaves by exception at the first question beyond: a stage is in the
/// middle of its loops there, and unwinding is what lets it be written without thinking of this.
class DryRun final : public Questioner {
public:
  DryRun(const Answers &known, const Future &future) : known_(known), future_(future) {}

  bool fails(const IndexSet &kept, double chance) override {
    const Fingerprint key = fingerprint(kept);
    if (const std::optional<bool> answer = known_.find(key))
      return *answer;
    for (const auto &[assumed, answer] : future_.assumed)
      if (assumed == key)
        return answer;
    throw OpenQuestion{kept, key, chance};
  }

private:
  const Answers &known_;
  const Future &future_;
};

/// The first question of this future that has no answer yet, to which the future moves on; nothing if the search ends
/// before.
std::optional<OpenQuestion> next_question(Future &future, const SearchContext &context, const Answers &known) {
  DryRun dry_run(known, future);
  try {
    while (!std::holds_alternative<Finished>(*future.stage))
      future.stage = std::make_shared<const Stage>(advance(*future.stage, context, dry_run));
  } catch (OpenQuestion &question) {
    return std::move(question);
  }
  return std::nullopt;
}

Future extended(const Future &future, const OpenQuestion &question, bool answer) {
  Future next = future;
  next.probability *= answer ? question.chance : 1 - question.chance;
  next.assumed.emplace_back(question.key, answer);
  return next;
}

} // namespace

std::vector<IndexSet> likely_questions(const Stage &from, const SearchContext &context, const Answers &known,
                                       int count) {
  std::vector<IndexSet> questions;
  std::priority_queue<Future, std::vector<Future>, LessLikely> futures;
  futures.push({1, std::make_shared<const Stage>(from), {}});
  // Different futures often lead to the same question; give up on finding more when most do.
  for (int tries = 4 * count; tries > 0 && !futures.empty() && static_cast<int>(questions.size()) < count; --tries) {
    Future future = futures.top();
    futures.pop();
    std::optional<OpenQuestion> question = next_question(future, context, known);
    if (!question)
      continue;
    futures.push(extended(future, *question, true));
    futures.push(extended(future, *question, false));
    if (std::find(questions.begin(), questions.end(), question->kept) == questions.end())
      questions.push_back(std::move(question->kept));
  }
  return questions;
}

} // namespace repro_minify
