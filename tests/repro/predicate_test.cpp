// Tests of the predicate by which a repro decides: for each rule, as little as the failure needs.
#include "core/number_text.h"
#include "repro/repro_py.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

/// A float32 output of which one element is off.
ReproFacts facts_of(CompareRule rule, double off, double ref_error, at::ScalarType dtype = at::kFloat) {
  ReproFacts facts;
  facts.signature = {FailureKind::Accuracy, "output", ""};
  facts.check.compare.rule = rule;
  LeafReport leaf;
  leaf.same = false;
  leaf.kinds = {FailureKind::Accuracy};
  leaf.ref_form = leaf.res_form = TensorForm{dtype, {4}, {1}};
  leaf.ref_error = ref_error;
  leaf.ref_max_error = 2 * ref_error;
  leaf.res_error = off / 2;
  leaf.multiplier = 3;
  leaf.max_abs_error = off;
  leaf.ref_at_worst = 1;
  leaf.res_at_worst = 1 + off;
  facts.reduced.outputs = {leaf};
  return facts;
}

std::string cpp_of(const ReproFacts &facts) {
  return differs_function(facts, /*complex=*/false, /*plain=*/false);
}

TEST(Predicate, TheToleranceInForce) {
  ReproFacts facts = facts_of(CompareRule::Default, 0.5, 1e-8);
  EXPECT_NE(cpp_of(facts).find("!at::allclose(expected, found, /*rtol=*/0.001, /*atol=*/0.001, /*equal_nan=*/true)"),
            std::string::npos)
      << cpp_of(facts);
  facts.check.compare.tol = 1e-6;
  EXPECT_NE(cpp_of(facts).find("/*rtol=*/1e-06"), std::string::npos) << cpp_of(facts);
}

TEST(Predicate, ANumberIsComparedWhereAProgramReturnsOne) {
  const ReproFacts facts = facts_of(CompareRule::Default, 0.5, 1e-8);
  EXPECT_NE(differs_function(facts, /*complex=*/false, /*plain=*/true).find("return expected_value != found_value;"),
            std::string::npos);
  EXPECT_EQ(cpp_of(facts).find("as_tensor"), std::string::npos) << cpp_of(facts);
}

TEST(Predicate, WhereEagerItselfIsOffItsOwnErrorIsAllowed) {
  const Predicate rounding = predicate_of(facts_of(CompareRule::Default, 0.1, 2e-3, at::kBFloat16));
  EXPECT_EQ(rounding.form, Predicate::Form::Rms);
  EXPECT_DOUBLE_EQ(rounding.limit, 8.1e-3); // 4 x 2e-3 + 1e-4
  const Predicate plain = predicate_of(facts_of(CompareRule::Default, 2.0, 2e-3, at::kBFloat16));
  EXPECT_EQ(plain.form, Predicate::Form::Close);
  EXPECT_DOUBLE_EQ(plain.atol, 0.5);
  EXPECT_EQ(plain.rtol, 0);
  // Not certain to show then: the tolerance alone.
  EXPECT_EQ(predicate_of(facts_of(CompareRule::Default, 0.012, 2e-3, at::kBFloat16)).form, Predicate::Form::Close);
}

TEST(Predicate, StrictBoundsEveryElement) {
  ReproFacts facts = facts_of(CompareRule::Strict, 1e-5, 1e-8);
  facts.check.compare.tol = 1e-6;
  EXPECT_EQ(predicate_of(facts).form, Predicate::Form::Close);
  facts.reduced.outputs[0].max_abs_error = 1.5e-6; // over tol x max(1, |expected|), not over tol + tol x |found|
  EXPECT_EQ(predicate_of(facts).form, Predicate::Form::Bound);
  EXPECT_EQ(predicate_of(facts_of(CompareRule::Strict, 1, 0, at::kLong)).form, Predicate::Form::Equal);
}

TEST(Predicate, CloseHasTheTolerancesOfTheDtype) {
  ReproFacts facts = facts_of(CompareRule::Close, 1e-2, 1, at::kHalf);
  facts.check.compare.tol_by_dtype = true;
  facts.check.compare.equal_nan = false;
  const std::string text = cpp_of(facts);
  EXPECT_NE(text.find("!at::allclose(found, expected, /*rtol=*/0.001, /*atol=*/1e-05, /*equal_nan=*/false)"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("kDouble"), std::string::npos) << text;
  facts.signature.kind = FailureKind::Nan; // NaN need not be in other places to be wrong
  EXPECT_NE(cpp_of(facts).find("allclose(found, expected"), std::string::npos) << cpp_of(facts);
}

TEST(Predicate, ExactComparesBits) {
  const std::string text = cpp_of(facts_of(CompareRule::Exact, 1e-9, 0));
  EXPECT_NE(text.find("signbit"), std::string::npos) << text;
  EXPECT_EQ(text.find("allclose"), std::string::npos) << text;
}

/// The predicate follows the facts of the leaf, whatever the sentence about the difference says.
TEST(Predicate, StructureAsksForWhatDiffers) {
  ReproFacts facts = facts_of(CompareRule::Strict, 0, 0);
  facts.signature.kind = FailureKind::Structure;
  LeafReport &leaf = facts.reduced.outputs[0];
  leaf.kinds = {FailureKind::Structure};
  facts.reduced.message = "strides, layout and device are words of this sentence";
  EXPECT_EQ(cpp_of(facts).find("stride"), std::string::npos) << cpp_of(facts);
  leaf.ref_form->sizes = leaf.res_form->sizes = {2, 2};
  leaf.ref_form->strides = {2, 1};
  leaf.res_form->strides = {1, 2};
  EXPECT_NE(cpp_of(facts).find("stride"), std::string::npos) << cpp_of(facts);
  EXPECT_EQ(cpp_of(facts).find("layout"), std::string::npos) << cpp_of(facts);
  leaf.res_form->device = "cuda:0";
  EXPECT_NE(cpp_of(facts).find("e.device() != f.device()"), std::string::npos) << cpp_of(facts);
}

/// The result that is wrong in another way, and comes first, has no say.
TEST(Predicate, IsThatOfTheLeafWithTheFailure) {
  ReproFacts facts = facts_of(CompareRule::Close, 1e-2, 1, at::kHalf);
  facts.check.compare.tol_by_dtype = true;
  LeafReport other = facts.reduced.outputs[0];
  other.kinds = {FailureKind::Nan};
  other.ref_form = other.res_form = TensorForm{at::kDouble, {4}, {1}};
  facts.reduced.outputs.insert(facts.reduced.outputs.begin(), other);
  EXPECT_DOUBLE_EQ(predicate_of(facts).rtol, 1e-3);
}

TEST(Predicate, DirectionsAndOverlapsAreComparedAsInTheRule) {
  ReproFacts facts = facts_of(CompareRule::Default, 0.5, 1e-8);
  facts.check.compare.cos_similarity = true;
  EXPECT_EQ(predicate_of(facts).form, Predicate::Form::Direction);
  EXPECT_NE(cpp_of(facts).find("cosine_similarity(e, f, /*dim=*/0, /*eps=*/1e-6).ge(0.99)"), std::string::npos)
      << cpp_of(facts);
  ReproFacts masks = facts_of(CompareRule::Default, 1, 0, at::kBool);
  masks.check.compare.use_iou_for_bool = true;
  masks.check.compare.iou_threshold = 0.5;
  EXPECT_EQ(predicate_of(masks).form, Predicate::Form::Overlap);
  EXPECT_NE(cpp_of(masks).find("both / either < 0.5"), std::string::npos) << cpp_of(masks);
  facts.check.compare.use_iou_for_bool = true; // says nothing of what is no mask
  EXPECT_EQ(predicate_of(facts).form, Predicate::Form::Direction);
}

TEST(Predicate, NumbersAreShort) {
  EXPECT_EQ(double_literal(1e-3), "0.001");
  EXPECT_EQ(double_literal(1), "1.0");
  EXPECT_EQ(double_literal(1.3e-6), "1.3e-06");
}

} // namespace
} // namespace repro_minify
