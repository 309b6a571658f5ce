// One mangler for all texts: what it makes is a name in each of them.
#include "program/hostile_names.h"
#include "program/names.h"

#include <gtest/gtest.h>

#include <regex>

namespace repro_minify {
namespace {

TEST(Names, SayWhatTheyCameFrom) {
  EXPECT_EQ(to_identifier("layer.0.weight"), "layer_0_weight");
  EXPECT_EQ(to_identifier("x"), "x");
  EXPECT_EQ(to_identifier("W"), "W");
  EXPECT_EQ(to_identifier("A_log"), "A_log");
  EXPECT_EQ(to_identifier("input"), "input");
  EXPECT_EQ(to_identifier("12"), "v12");
  EXPECT_EQ(to_identifier("for"), "for_0");
  EXPECT_EQ(to_identifier("new"), "new_0");
  EXPECT_EQ(to_identifier("\"); system(\"id"), "system_id");
  EXPECT_EQ(to_identifier("\xc3\xa9"), "v_0");
  EXPECT_EQ(to_identifier("_x"), "x");
  EXPECT_EQ(to_identifier("__int"), "int_0");
  EXPECT_EQ(to_identifier("EOF"), "EOF_0");
  EXPECT_EQ(to_identifier("first." + std::string(80, 'a')), std::string(60, 'a'));
}

TEST(Names, AreNamesInEveryLanguage) {
  const std::regex plain("[A-Za-z](_?[A-Za-z0-9]+)*");
  for (const auto &hostile : testing_support::hostile_names()) {
    const std::string name = to_identifier(hostile);
    EXPECT_TRUE(std::regex_match(name, plain)) << hostile << " became " << name;
    EXPECT_LE(name.size(), 64u);
    EXPECT_EQ(to_identifier(name), name) << hostile;
  }
}

} // namespace
} // namespace repro_minify
