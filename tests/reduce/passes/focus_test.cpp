// Where in an input's data the failure probably is, by what is known of the result.
#include "reduce/passes/focus.h"

#include "check/compare_values.h"
#include "program/program_from.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using testing_support::program_from;

constexpr const char *relu = R"IR(
graph(%x : Tensor):
  %y : Tensor = aten::relu(%x)
  return (%y))IR";

/// Returns a Verdict in which one element of a result of this form is wrong.
Verdict wrong_at(std::int64_t index, const TensorForm &form) {
  LeafReport leaf;
  leaf.same = false;
  leaf.kinds = {FailureKind::Accuracy};
  leaf.ref_form = leaf.res_form = form;
  leaf.worst_index = index;
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Fail;
  verdict.outputs = {leaf};
  return verdict;
}

/// The element of the only input that a wrong element of the result leads to.
Focus::Index led_to(const at::Tensor &input, const Verdict &verdict) {
  const std::vector<Focus> foci = foci_of(program_from(relu, {input}), verdict);
  const Focus::Index *index = foci.front().of(0);
  return index ? *index : Focus::Index{};
}

TEST(Focus, FollowsTheWorstElementInEachDimension) {
  EXPECT_EQ(led_to(at::zeros({5}), wrong_at(3, form_of(at::zeros({5})))), Focus::Index({3}));
  EXPECT_EQ(led_to(at::zeros({2, 3}), wrong_at(5, form_of(at::zeros({2, 3})))), Focus::Index({1, 2}));
  EXPECT_EQ(led_to(at::zeros({4, 2, 3}), wrong_at(23, form_of(at::zeros({4, 2, 3})))), Focus::Index({3, 1, 2}));
}

/// Dimensions that are not equally large mean something different, and lead nowhere.
TEST(Focus, ComparesDimensionsFromTheLast) {
  EXPECT_EQ(led_to(at::zeros({7, 3}), wrong_at(5, form_of(at::zeros({2, 3})))), Focus::Index({0, 2}));
  EXPECT_EQ(led_to(at::zeros({3}), wrong_at(5, form_of(at::zeros({2, 3})))), Focus::Index({2}));
}

TEST(Focus, AResultOnAnotherDeviceIsLikeAnyOther) {
  TensorForm form = form_of(at::zeros({2, 3}));
  form.device = "cuda:0";
  EXPECT_EQ(led_to(at::zeros({2, 3}), wrong_at(4, form)), Focus::Index({1, 1}));
}

/// A number has no elements that could lead anywhere.
TEST(Focus, ANumberLeadsNowhere) {
  EXPECT_EQ(led_to(at::zeros({2}), wrong_at(0, *form_of(c10::IValue(1.5)))), Focus::Index{});
}

} // namespace
} // namespace repro_minify
