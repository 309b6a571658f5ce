#include "core/number_text.h"
#include "core/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

namespace repro_minify {
namespace {

using Texts = std::pair<std::string, std::string>;

TEST(DifferingTexts, HaveTheDigitsThatTellThemApart) {
  EXPECT_EQ(differing_texts(-0.52754, 0.10991, 4), (Texts{"-0.5275", "0.1099"}));
  EXPECT_EQ(differing_texts(1.0000001192, 1.0000002384, 4), (Texts{"1.00000012", "1.00000024"}));
  EXPECT_EQ(differing_texts(1234.5678, 1234.9, 4), (Texts{"1234.6", "1234.9"}));
  EXPECT_EQ(differing_texts(1.5, 1.5, 4), (Texts{"1.5", "1.5"}));
  const double next = std::nextafter(0.1, 1);
  const auto [one, other] = differing_texts(0.1, next, 4);
  EXPECT_NE(one, other);
}

TEST(DifferingTexts, WholeNumbersAreInFull) {
  EXPECT_EQ(differing_texts(12345, 12346, 4), (Texts{"12345", "12346"}));
  EXPECT_EQ(differing_texts(1234567, 0.5, 4), (Texts{"1234567", "0.5"}));
  EXPECT_EQ(differing_texts(1e30, 2, 4), (Texts{"1e+30", "2"}));
}

TEST(DifferingTexts, OfWhatIsNoNumber) {
  EXPECT_EQ(differing_texts(NAN, 1, 4), (Texts{"nan", "1"}));
  EXPECT_EQ(differing_texts(2.25, -INFINITY, 4), (Texts{"2.25", "-inf"}));
}

TEST(PositionText, IsTheIndexInEachDimension) {
  EXPECT_EQ(position_text(5, {2, 3}), "[1, 2]");
  EXPECT_EQ(position_text(7, {8}), "[7]");
  EXPECT_EQ(position_text(0, {}), "[]");
}

} // namespace
} // namespace repro_minify
