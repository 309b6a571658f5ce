// Which of several wrong values a failure is about.
#include "check/verdict_text.h"

#include "check/compare_runs.h"
#include "check/compare_values.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using Tensors = std::vector<c10::IValue>;

/// Returns the Verdict of compare_runs() on two runs that return these.
Verdict compared(const Tensors &expected, const Tensors &found, CompareRule rule = CompareRule::Default) {
  CompareOptions options = accuracy_check_options();
  options.rule = rule;
  Observed ref, res;
  ref.output = c10::ivalue::Tuple::create(expected);
  res.output = c10::ivalue::Tuple::create(found);
  Verdict verdict;
  compare_runs(ref, res, nullptr, options, verdict);
  return verdict;
}

std::vector<FailureKind> kinds_of(const Verdict &verdict) {
  std::vector<FailureKind> kinds;
  for (const Signature &signature : verdict.signatures)
    kinds.push_back(signature.kind);
  return kinds;
}

TEST(LeafShowing, AWrongDtypeIsTheFailureWhateverTheValues) {
  const at::Tensor one = at::ones({2}, at::kChar);
  const Verdict verdict = compared({one}, {one.to(at::kLong) + 255});
  EXPECT_EQ(kinds_of(verdict), (std::vector{FailureKind::Dtype, FailureKind::Accuracy}));
  EXPECT_EQ(kinds_of(compared({at::ones({2})}, {at::full({2}, NAN, at::kHalf)})).front(), FailureKind::Dtype);
  // Another value that is wrong by itself is another failure.
  const Verdict both = compared({one, one}, {one.to(at::kLong), one + 1});
  EXPECT_EQ(kinds_of(both), (std::vector{FailureKind::Accuracy, FailureKind::Dtype}));
}

TEST(LeafShowing, TheSentenceIsOfTheKindThatIsNamed) {
  const at::Tensor one = at::ones({2});
  const Verdict verdict = compared({one, one}, {one + 1, at::ones({3})}); // wrong, then of another shape
  ASSERT_EQ(verdict.signatures.front().kind, FailureKind::Shape);
  EXPECT_EQ(leaf_showing(verdict, verdict.signatures.front()), &verdict.outputs.at(1));
  EXPECT_NE(worst_message(verdict).find("shape [2] expected, [3] found"), std::string::npos) << worst_message(verdict);
}

TEST(LeafShowing, WholeNumbersAreTheirOwn) {
  const Tensors expected = {at::ones({2}, at::kLong), at::ones({2})},
                found = {at::zeros({2}, at::kLong), at::zeros({2})};
  const Verdict exact = compared(expected, found, CompareRule::Exact);
  EXPECT_EQ(leaf_showing(exact, {FailureKind::Accuracy, "output", ""}), &exact.outputs.at(1));
  EXPECT_EQ(leaf_showing(exact, {FailureKind::Accuracy, "output", "whole numbers"}), &exact.outputs.at(0));
  const Verdict usual = compared(expected, found);
  EXPECT_EQ(leaf_showing(usual, {FailureKind::Accuracy, "output", ""}), &usual.outputs.at(0));
}

TEST(LeafShowing, WhereNoneShowsItTheFirstThatIsWrong) {
  const at::Tensor one = at::ones({2});
  const Verdict verdict = compared({one, one}, {one, one + 1});
  EXPECT_EQ(leaf_showing(verdict, {FailureKind::Shape, "output", ""}), &verdict.outputs.at(1));
  EXPECT_EQ(leaf_showing(compared({one}, {one}), {FailureKind::Shape, "output", ""}), nullptr);
}

TEST(TensorForm, SaysWhatATensorIs) {
  const TensorForm form = form_of(at::zeros({2, 3}, at::kHalf).t());
  EXPECT_EQ(form, (TensorForm{at::kHalf, {3, 2}, {1, 3}}));
  EXPECT_EQ(form_of(c10::IValue(2.5))->dtype, at::kDouble);
  EXPECT_EQ(form_of(c10::IValue("text")), std::nullopt);
  EXPECT_EQ(form_of(c10::IValue(at::Tensor())), std::nullopt);
}

TEST(TensorForm, StridesThatHaveNoEffectDoNotDiffer) {
  const TensorForm rows = {at::kFloat, {2, 3}, {3, 1}};
  EXPECT_TRUE(strides_differ(rows, {at::kFloat, {2, 3}, {1, 2}}));
  EXPECT_FALSE(strides_differ({at::kFloat, {1, 3}, {3, 1}}, {at::kFloat, {1, 3}, {1, 1}}));
  EXPECT_FALSE(strides_differ({at::kFloat, {0, 3}, {3, 1}}, {at::kFloat, {0, 3}, {1, 1}}));
  EXPECT_FALSE(strides_differ(rows, {at::kFloat, {2, 3}, {}})); // of a layout without any
}

} // namespace
} // namespace repro_minify
