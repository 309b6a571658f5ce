// Planted failures that no constant of the search was tuned on (docs/notes/search.md): other seeds, other graphs.
#include "reduce/search.h"
#include "reduce/search/mean_questions.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

class AskingPredicate final : public Oracle {
public:
  explicit AskingPredicate(const planted::Predicate &predicate) : predicate_(predicate) {}
  bool fails(const IndexSet &kept) override { return predicate_(kept); }

private:
  const planted::Predicate &predicate_;
};

IndexSet minimized(const planted::Model &model, const planted::Predicate &fails) {
  AskingPredicate oracle(fails);
  return minimize(planted::everything(model.dataflow.size()), model.dataflow, oracle, {});
}

TEST(UntunedCases, OtherSeedsTakeAsManyQuestions) {
  const double locked = planted::questions_on_blocks(minimized, 0);
  const double fresh = planted::questions_on_blocks(minimized, 1000);
  EXPECT_LE(fresh, 1.05 * locked);
  EXPECT_LE(fresh, 26);
}

/// llvm-reduce's halving takes 61 there, and ddmin 117.
TEST(UntunedCases, OtherGraphsTakeHalfOfWhatHalvingTakes) {
  EXPECT_LE(planted::questions_on_other_graphs(minimized), 32);
}

} // namespace
} // namespace repro_minify
