#include "reduce/search/look_ahead.h"

#include "program/dataflow/dataflow.h"
#include "reduce/questions/dry_run.h"
#include "reduce/questions/futures.h"
#include "reduce/search/answers.h"
#include "reduce/search/questioner.h"
#include "reduce/search/search_stages.h"

#include <algorithm>
#include <memory>
#include <optional>
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

/// Answers from what is known and assumed, and leaves the stage at the first question beyond.
class AssumingQuestioner final : public Questioner {
public:
  AssumingQuestioner(const Answers &known, const Assumed &assumed) : known_(known), assumed_(assumed) {}

  template <typename Work> DryRunEnd<UnansweredSet> run(const Work &work) { return dry_run_.run(work); }

  bool fails(const IndexSet &kept, double chance) override {
    const Fingerprint key = fingerprint(kept);
    if (const std::optional<bool> answer = known_.find(key))
      return *answer;
    if (const auto assumed = assumed_.find(key); assumed != assumed_.end())
      return assumed->second;
    dry_run_.leave_at({kept, key, chance});
  }

private:
  const Answers &known_;
  const Assumed &assumed_;
  DryRun<UnansweredSet> dry_run_;
};

using StageAt = std::shared_ptr<const Stage>;

} // namespace

std::vector<IndexSet> likely_questions(const Stage &from, const SearchContext &context, const Answers &known,
                                       int count) {
  const auto go_on = [&](StageAt &stage, const Assumed &assumed) {
    AssumingQuestioner questioner(known, assumed);
    return questioner.run([&] {
      while (!std::holds_alternative<Finished>(*stage))
        stage = std::make_shared<const Stage>(advance(*stage, context, questioner));
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

} // namespace repro_minify
