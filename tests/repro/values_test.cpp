// Values and differences as the page shows them.
#include "repro/code.h"
#include "repro/shown_value.h"
#include "repro/small_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace repro_minify {
namespace {

using nlohmann::json;

ShownValue shown_value(std::int64_t elements, const std::vector<double> &expected, const std::vector<double> &found) {
  ShownValue value;
  value.sizes = {elements};
  value.elements = elements;
  value.expected = expected;
  value.found = found;
  return value;
}

TEST(ValuesPicture, ShowsTheNumbersOfASmallValue) {
  ShownValue value = shown_value(3, {1, 2, 3}, {1, 2.5, 1000});
  const json shown = values_json(value, 16);
  EXPECT_EQ(shown.at("is_large"), false);
  EXPECT_TRUE(shown.at("map").is_null());
  ASSERT_EQ(shown.at("numbers").size(), 3);
  EXPECT_EQ(shown.at("numbers").at(0).at("shade"), "0");
  EXPECT_EQ(shown.at("numbers").at(0).at("error"), "");
  EXPECT_EQ(shown.at("numbers").at(1).at("found"), "2.5");
  EXPECT_EQ(shown.at("numbers").at(2).at("shade"), "9") << "the largest";
  value.found[0] = NAN;
  EXPECT_EQ(values_json(value, 16).at("numbers").at(0).at("shade"), "x");
  value.found.clear();
  EXPECT_EQ(values_json(value, 16).at("numbers").at(0).at("found"), "");
}

TEST(ValuesPicture, NamesAnElementByItsIndexInEachDimension) {
  ShownValue value = shown_value(4, {1, 2, 3, 4}, {1, 2, 3, 5});
  value.sizes = {2, 2};
  EXPECT_EQ(values_json(value, 16).at("numbers").at(2).at("at"), "[1, 0]");
  value.sizes = {2};
  value.is_complex = true;
  EXPECT_EQ(values_json(value, 16).at("numbers").at(2).at("at"), "[1] real");
  EXPECT_EQ(values_json(value, 16).at("numbers").at(3).at("at"), "[1] imaginary");
}

TEST(ValuesPicture, ShowsTheDigitsThatDiffer) {
  const json row = values_json(shown_value(1, {1.00000012}, {1.00000024}), 16).at("numbers").at(0);
  EXPECT_NE(row.at("expected"), row.at("found")) << row;
}

TEST(ValuesPicture, ShowsTheErrorsOfALargeOne) {
  ShownValue value = shown_value(40, {1, 2}, {1, 3});
  value.errors = {0, 1, 1e-6, NAN};
  value.rows = value.columns = 2;
  value.decades = {3, 0, 1};
  value.first_decade = -2;
  value.equal = 35;
  value.not_finite = 1;
  const json shown = values_json(value, 2);
  const json &cells = shown.at("map").at("cells");
  ASSERT_EQ(cells.size(), 3) << "what is the same is not drawn";
  EXPECT_EQ(cells.at(0).at("shade"), "9");
  EXPECT_EQ(cells.at(1).at("shade"), "1");
  EXPECT_EQ(cells.at(2).at("shade"), "x");
  EXPECT_EQ(cells.at(2).at("x"), 10);
  EXPECT_EQ(cells.at(2).at("y"), 10);
  const json &bars = shown.at("histogram").at("bars");
  ASSERT_EQ(bars.size(), 5);
  EXPECT_EQ(bars.at(0).at("length"), 210) << "35 of 40, of 240";
  EXPECT_EQ(bars.at(1).at("what"), "off by 1e-2 or more");
  EXPECT_EQ(bars.at(2).at("length"), 0);
  EXPECT_EQ(bars.at(4).at("what"), "NaN or Inf on one side");
  value.found.clear();
  value.errors.clear();
  EXPECT_TRUE(values_json(value, 2).at("map").is_null());
  EXPECT_TRUE(values_json(value, 2).at("histogram").is_null());
}

TEST(Difference, IsLineByLine) {
  Program failing = testing_support::small_program(), passing = testing_support::small_program();
  const auto signs = [&] {
    std::string text;
    for (const auto &row : difference_json(failing, passing))
      text += row.at("where").get<std::string>().substr(0, 1);
    return text;
  };
  EXPECT_EQ(signs().find_first_not_of('b'), std::string::npos) << "the same";
  passing.inputs[0].value = at::full({2}, 3.0f);
  const std::string changed = signs();
  EXPECT_EQ(std::count(changed.begin(), changed.end(), 'f'), 1) << changed;
  EXPECT_EQ(std::count(changed.begin(), changed.end(), 'p'), 1) << changed;
}

} // namespace
} // namespace repro_minify
