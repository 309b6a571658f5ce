#include "check/verdict_text.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

Verdict comparing(const c10::IValue &ref, const c10::IValue &res, CompareOptions options = accuracy_check_options()) {
  Verdict verdict;
  same(ref, res, std::nullopt, options, &verdict.outputs);
  return verdict;
}

TEST(LetPass, NamesWholeNumbersWithinTheRelativeTolerance) {
  const at::Tensor eager = at::scalar_tensor(4294967297LL, at::kLong).expand({2}).clone();
  EXPECT_EQ(let_pass(comparing(eager, eager + 18)).text,
            "output differs by up to 18, and holds no floating-point numbers");
  EXPECT_EQ(let_pass(comparing(eager, eager)).text, "");
  EXPECT_TRUE(lets_whole_numbers_pass(comparing(eager, eager + 18)));
  EXPECT_FALSE(lets_whole_numbers_pass(comparing(eager, eager)));
}

TEST(LetPass, NamesBoolsThatAreNotCompared) {
  CompareOptions options = accuracy_check_options();
  options.ignore_non_fp = true;
  const at::Tensor eager = at::zeros({3}, at::kBool);
  EXPECT_EQ(let_pass(comparing(eager, eager.logical_not(), options)).text,
            "output differs by up to 1, and holds no floating-point numbers");
}

TEST(LetPass, NamesWhatIsNoFurtherFromTheTruthThanEagerIs) {
  const at::Tensor truth = at::zeros({4}, at::kDouble), eager = at::full({4}, 0.25);
  Verdict verdict;
  EXPECT_TRUE(same(eager, -eager, truth, accuracy_check_options(), &verdict.outputs));
  EXPECT_EQ(let_pass(verdict).text,
            "output differs by up to 0.5, and its RMSE against float64 is 0.25 where eager's is 0.25");
}

TEST(LetPass, IsSilentAboutTheRoundingOfADtype) {
  const at::Tensor eager = at::ones({4}, at::kBFloat16);
  Verdict verdict;
  EXPECT_TRUE(
      same(eager, eager + 0.0078125, eager.to(at::kDouble) + 0.004, accuracy_check_options(), &verdict.outputs));
  EXPECT_EQ(let_pass(verdict).text, "");
}

TEST(LetPass, IsSilentAboutRoundingAndAboutFailures) {
  const at::Tensor eager = at::ones({3});
  EXPECT_EQ(let_pass(comparing(eager, eager + 1e-6)).text, "");
  const at::Tensor whole = at::ones({3}, at::kLong);
  EXPECT_EQ(let_pass(comparing(whole, whole + 5)).text, "");
}

/// A gradient of a mean of 1000 elements is a thousandth of that of their sum.
TEST(LetPass, NamesGradientsThatAreWrongButSmall) {
  const at::Tensor output = at::ones({10, 100}), truth = at::full({4}, 0.0005, at::kDouble);
  Verdict verdict = comparing(output, output);
  const auto with_gradient = [&](const at::Tensor &eager, const at::Tensor &found) {
    verdict.gradients.clear();
    EXPECT_TRUE(same(eager, found, truth, accuracy_check_options(), &verdict.gradients));
  };
  with_gradient(truth.to(at::kFloat), at::full({4}, 0.00054));
  EXPECT_EQ(sum_tolerance(verdict), 2e-5);
  CompareOptions finer = accuracy_check_options();
  finer.tol = 2e-5;
  EXPECT_FALSE(same(truth.to(at::kFloat), at::full({4}, 0.00054), truth, finer));
  EXPECT_EQ(let_pass(verdict).text, "gradients differ, which are those of a mean of 1000 elements, and within the "
                                    "tolerance because they are small");
  EXPECT_EQ(let_pass(verdict).remedy, "--tol 2e-05");
  with_gradient(truth.to(at::kFloat), at::full({4}, 0.0005));
  EXPECT_FALSE(sum_tolerance(verdict));
  with_gradient(at::full({4}, 0.00055), at::full({4}, 0.00045)); // eager is no better
  EXPECT_FALSE(sum_tolerance(verdict));
}

} // namespace
} // namespace repro_minify
