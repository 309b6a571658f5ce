#include "core/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace repro_minify {
namespace {

/// Returns the text that C's printf writes.
template <typename... Values> std::string printed(const char *format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

TEST(NumberText, IsWhatPrintfWrites) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(-10, 10);
  std::uniform_int_distribution<int> exponent(-300, 300);
  for (int i = 0; i < 2000; ++i) {
    const double value = i < 50 ? 0.05 * i : mantissa(random) * std::pow(10, exponent(random));
    EXPECT_EQ(fixed_text(value, 1), printed("%.1f", value));
    EXPECT_EQ(fixed_text(value, 0), printed("%.0f", value));
    EXPECT_EQ(rounded_text(value, 2), printed("%.2g", value));
    EXPECT_EQ(rounded(value, 2), std::strtod(printed("%.1e", value).c_str(), nullptr));
  }
}

TEST(NumberText, OfNumbersThatAreNone) {
  EXPECT_EQ(fixed_text(INFINITY, 1), "inf");
  EXPECT_EQ(fixed_text(-INFINITY, 1), "-inf");
  EXPECT_EQ(rounded(INFINITY, 2), INFINITY);
  EXPECT_TRUE(std::isnan(rounded(NAN, 2)));
  EXPECT_TRUE(std::signbit(rounded(-0.0, 2)));
}

TEST(NumberText, IsPaddedWithZeros) {
  for (const unsigned value : {0u, 7u, 8u, 63u, 255u, 256u, 65536u, 4294967295u}) {
    EXPECT_EQ(padded_text(value, 3, 8), printed("%03o", value));
    EXPECT_EQ(padded_text(value, 2, 16), printed("%02x", value));
    EXPECT_EQ(padded_text(value, 8, 16), printed("%08x", value));
    EXPECT_EQ(padded_text(value, 2), printed("%02u", value));
  }
}

} // namespace
} // namespace repro_minify
