#include "repro/shown_value.h"

#include <ATen/ATen.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace repro_minify {
namespace {

ShownValue shown(const at::Tensor &expected, const at::Tensor &found, const ShowOptions &show = {}) {
  const c10::IValue other = found;
  return shown_value(expected, &other, show);
}

TEST(ShownValue, CountsErrorsByTheirSize) {
  const ShownValue value = shown(at::tensor({1.0, 2.0, 3.0, 4.0}), at::tensor({1.0, 2.05, 3.02, 9.0}));
  EXPECT_EQ(value.elements, 4);
  EXPECT_EQ(value.equal, 1);
  EXPECT_EQ(value.first_decade, -2);
  EXPECT_EQ(value.decades, (std::vector<std::int64_t>{2, 0, 1}));
  EXPECT_EQ(value.not_finite, 0);
  EXPECT_EQ(value.found, (std::vector<double>{1.0, 2.05, 3.02, 9.0}));
}

TEST(ShownValue, WhatIsNoNumberOnOneSideAloneIsAnError) {
  const ShownValue value = shown(at::tensor({NAN, 1.0, INFINITY}), at::tensor({NAN, NAN, INFINITY}));
  EXPECT_EQ(value.equal, 2);
  EXPECT_EQ(value.not_finite, 1);
  ASSERT_EQ(value.errors.size(), 3u);
  EXPECT_EQ(value.errors[0], 0);
  EXPECT_TRUE(std::isnan(value.errors[1]));
}

TEST(ShownValue, AMapHasTheLargestErrorOfEachCell) {
  at::Tensor found = at::zeros({8, 6});
  found[7][5] = 3;
  found[6][5] = 1;
  found[0][0] = 2;
  const ShownValue value = shown(at::zeros({8, 6}), found, {.call = 1, .elements = 4, .cells = 2});
  EXPECT_EQ(value.rows, 2);
  EXPECT_EQ(value.columns, 2);
  EXPECT_EQ(value.errors, (std::vector<double>{2, 0, 0, 3}));
  EXPECT_EQ(value.expected.size(), 4u);
}

TEST(ShownValue, OfAnotherShapeOneSideIsShown) {
  const ShownValue value = shown(at::ones({2}), at::ones({3}));
  EXPECT_EQ(value.expected.size(), 2u);
  EXPECT_TRUE(value.found.empty());
  EXPECT_TRUE(value.errors.empty());
}

TEST(ShownValue, ScalarsEmptyTensorsAndWhatIsNoTensor) {
  EXPECT_EQ(shown(at::scalar_tensor(2.5), at::scalar_tensor(2.0)).decades, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(shown(at::empty({0, 3}), at::empty({0, 3})).elements, 0);
  EXPECT_EQ(shown_value(c10::IValue("text"), nullptr, {}).elements, 0);
  EXPECT_EQ(shown(at::ones({2}, at::kComplexFloat), at::ones({2}, at::kComplexFloat)).elements, 4);
}

TEST(ShownValue, TravelsAsJson) {
  const ShownValue value = shown(at::tensor({1.0, 2.0, INFINITY}), at::tensor({1.0, NAN, 7.0}));
  const ShownValue back = shown_value_from(nlohmann::json::parse(to_json(value).dump()));
  EXPECT_EQ(to_json(back), to_json(value));
}

} // namespace
} // namespace repro_minify
