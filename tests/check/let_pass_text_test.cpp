#include "check/verdict_text.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

Verdict comparing(const c10::IValue &ref, const c10::IValue &res, CompareOptions options = accuracy_check_options()) {
  Verdict verdict;
  same(ref, res, std::nullopt, options, &verdict.outputs);
  return verdict;
}

TEST(LetPassText, NamesWholeNumbersWithinTheRelativeTolerance) {
  const at::Tensor eager = at::scalar_tensor(4294967297LL, at::kLong).expand({2}).clone();
  EXPECT_EQ(let_pass_text(comparing(eager, eager + 18)),
            "output differs by up to 18, and holds no floating-point numbers");
  EXPECT_EQ(let_pass_text(comparing(eager, eager)), "");
  EXPECT_TRUE(lets_whole_numbers_pass(comparing(eager, eager + 18)));
  EXPECT_FALSE(lets_whole_numbers_pass(comparing(eager, eager)));
}

TEST(LetPassText, NamesBoolsThatAreNotCompared) {
  CompareOptions options = accuracy_check_options();
  options.ignore_non_fp = true;
  const at::Tensor eager = at::zeros({3}, at::kBool);
  EXPECT_EQ(let_pass_text(comparing(eager, eager.logical_not(), options)),
            "output differs by up to 1, and holds no floating-point numbers");
}

TEST(LetPassText, NamesWhatIsNoFurtherFromTheTruthThanEagerIs) {
  const at::Tensor truth = at::zeros({4}, at::kDouble), eager = at::full({4}, 0.25);
  Verdict verdict;
  EXPECT_TRUE(same(eager, -eager, truth, accuracy_check_options(), &verdict.outputs));
  EXPECT_EQ(let_pass_text(verdict),
            "output differs by up to 0.5, and its RMSE against float64 is 0.25 where eager's is 0.25");
}

TEST(LetPassText, IsSilentAboutTheRoundingOfADtype) {
  const at::Tensor eager = at::ones({4}, at::kBFloat16);
  Verdict verdict;
  EXPECT_TRUE(
      same(eager, eager + 0.0078125, eager.to(at::kDouble) + 0.004, accuracy_check_options(), &verdict.outputs));
  EXPECT_EQ(let_pass_text(verdict), "");
}

TEST(LetPassText, IsSilentAboutRoundingAndAboutFailures) {
  const at::Tensor eager = at::ones({3});
  EXPECT_EQ(let_pass_text(comparing(eager, eager + 1e-6)), "");
  const at::Tensor whole = at::ones({3}, at::kLong);
  EXPECT_EQ(let_pass_text(comparing(whole, whole + 5)), "");
}

} // namespace
} // namespace repro_minify
