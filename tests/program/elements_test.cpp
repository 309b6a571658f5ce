#include "program/formula.h"

#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

#include <cmath>

namespace repro_minify {
namespace {

TEST(Elements, AreReadRowMajorWhateverTheStridesAre) {
  const at::Tensor memory = at::arange(6, at::kFloat).reshape({2, 3});
  EXPECT_EQ(elements_of(memory.t(), 6), std::vector<double>({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(elements_of(at::ones({1}).expand({3}), 3), std::vector<double>({1, 1, 1}));
  EXPECT_EQ(elements_of(memory, 5), std::nullopt) << "more than were asked for";
  EXPECT_EQ(elements_of(at::ones({2}, at::kComplexFloat), 2), std::nullopt);
  EXPECT_EQ(elements_of(at::ones({2}).to_sparse(), 2), std::nullopt);
}

TEST(Elements, MakeTheSameTensorAgain) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kByte, at::kBool}) {
    const at::Tensor tensor = at::arange(24, at::kFloat).remainder(2).to(dtype).reshape({2, 3, 4}).permute({2, 0, 1});
    const auto strides = strides_like(tensor, tensor.sizes().vec());
    const at::Tensor again = tensor_of(*elements_of(tensor, 24), tensor.sizes().vec(), dtype, strides);
    EXPECT_TRUE(at::equal(again, tensor)) << dtype;
    EXPECT_EQ(again.strides(), tensor.strides());
  }
}

TEST(Elements, SaturateWhereTheDtypeEnds) {
  const at::Tensor tensor = tensor_of({300, -5, NAN}, {3}, at::kByte);
  EXPECT_EQ(elements_of(tensor, 3), std::vector<double>({255, 0, 0}));
}

TEST(Formula, OneNumberEverywhere) {
  const auto tensor = tensor_from_formula(full_formula(0.1f), {2, 2}, at::kFloat);
  ASSERT_TRUE(tensor);
  EXPECT_TRUE(at::equal(*tensor, at::full({2, 2}, 0.1f)));
  EXPECT_EQ(formula_source(full_formula(0.1f), {2, 2}, at::kFloat), "at::full({2, 2}, 0.1, at::kFloat)");
  EXPECT_EQ(formula_source(full_formula(NAN), {1}, at::kHalf), "at::full({1}, NAN, at::kHalf)");
  EXPECT_EQ(formula_source(full_formula(-7), {1}, at::kLong), "at::full({1}, -7, at::kLong)");
  EXPECT_TRUE(std::isnan(tensor_from_formula(full_formula(NAN), {1}, at::kFloat)->item<float>()));
}

TEST(Formula, ANumberThatTheDtypeDoesNotHold) {
  EXPECT_FALSE(tensor_from_formula(full_formula(300), {1}, at::kByte));
  EXPECT_FALSE(tensor_from_formula(full_formula(0.5), {1}, at::kLong));
  EXPECT_FALSE(tensor_from_formula(full_formula(1e300), {1}, at::kFloat));
  EXPECT_FALSE(tensor_from_formula(full_formula(NAN), {1}, at::kLong));
}

} // namespace
} // namespace repro_minify
