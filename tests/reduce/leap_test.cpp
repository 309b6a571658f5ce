// A hang costs the search few full limits: what most likely works is asked for together.
#include "reduce/chain.h"
#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

struct SearchForHang {
  Reduction reduction;
  int hung = 0; ///< answers that take the whole limit in earnest
};

/// Nothing hangs: the check says at once that it did.
SearchForHang search_for_hang(const Program &start, const Predicate &hangs, int jobs) {
  SearchForHang search;
  const auto verdict_of_hang = [](bool hung) {
    Verdict verdict = interesting_verdict(hung);
    if (hung)
      verdict.signatures = {{FailureKind::Hang, "", ""}};
    return verdict;
  };
  InterestingnessTest test = structural_test(hangs);
  test.verdict_of = [&](const JobEnd &job_end) {
    const bool hung = verdict_of(job_end).outcome == Verdict::Outcome::Fail;
    search.hung += hung;
    return verdict_of_hang(hung);
  };
  ReduceOptions options;
  options.limits.timeout = std::chrono::minutes(1);
  options.jobs = jobs;
  const Verdict verdict = verdict_of_hang(true);
  search.reduction = reduce(start, verdict, verdict.signatures.front(), test, options);
  return search;
}

bool has_erf(const Program &program) {
  return count(program, "aten::erf") == 1;
}

/// Whatever its values are: ones, of one element, of no dimension.
TEST(AHang, TakesFewFullLimits) {
  const SearchForHang search = search_for_hang(chain_with("erf", 2), has_erf, 1);
  EXPECT_TRUE(search.reduction.one_minimal);
  EXPECT_EQ(search.reduction.program.inputs.at(0).value.toTensor().numel(), 1);
  EXPECT_LE(search.hung, 3);
}

/// Simplifications that do not work are found by halves.
TEST(AHang, MayNeedSomeOfItsData) {
  const auto hangs = [](const Program &program) {
    return has_erf(program) && program.inputs.size() == 1 && program.inputs[0].value.toTensor().dim() == 2 &&
           program.inputs[0].value.toTensor().size(1) >= 2;
  };
  const SearchForHang search = search_for_hang(chain_with("erf", 2), hangs, 1);
  EXPECT_TRUE(search.reduction.one_minimal);
  EXPECT_EQ(search.reduction.program.inputs.at(0).value.toTensor().numel(), 2);
  EXPECT_LE(search.hung, 6);
}

TEST(AHang, IsTheSameForAnyNumberOfJobs) {
  const auto hangs = [](const Program &program) {
    return has_erf(program) && count(program, "aten::neg") >= 3 && program.inputs.size() == 1 &&
           program.inputs[0].value.toTensor().numel() >= 3;
  };
  const Reduction alone = search_for_hang(chain_with("erf", 30), hangs, 1).reduction;
  const Reduction several = search_for_hang(chain_with("erf", 30), hangs, 4).reduction;
  EXPECT_EQ(canonical_hash(several.program), canonical_hash(alone.program));
  EXPECT_EQ(several.checks, alone.checks);
}

} // namespace
} // namespace repro_minify
