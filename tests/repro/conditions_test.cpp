#include "repro/triage.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

Conditions of(std::vector<Conditions::Case> cases, std::optional<std::vector<std::int64_t>> sizes = std::nullopt) {
  return {.dtype = "uint8", .sizes = std::move(sizes), .cases = std::move(cases)};
}

TEST(Conditions, WhereNothingWasAskedNothingIsSaid) {
  EXPECT_EQ(conditions_sentence({}), "");
  EXPECT_EQ(condition_in_title({}), "");
}

TEST(Conditions, TheOnlyDtypeThatFailsStandsInTheTitle) {
  const Conditions conditions = of({{"int8", "dtype", false}, {"int16", "dtype", false}});
  EXPECT_EQ(conditions_sentence(conditions), "With the same values it is right for `int8` and `int16`.");
  EXPECT_EQ(condition_in_title(conditions), "uint8");
  EXPECT_EQ(condition_in_title(of({{"int8", "dtype", false}})), "") << "one that is right is too few";
}

TEST(Conditions, OneOfSeveralThatFailDoesNot) {
  const Conditions conditions =
      of({{"int8", "dtype", true}, {"int16", "dtype", false}, {"int32", "dtype", false}, {"int64", "dtype", false}});
  EXPECT_EQ(conditions_sentence(conditions),
            "With the same values it fails for `int8` too; it is right for `int16`, `int32` and `int64`.");
  EXPECT_EQ(condition_in_title(conditions), "");
}

TEST(Conditions, WhereAllFailTheyAreNamed) {
  EXPECT_EQ(conditions_sentence(of({{"int8", "dtype", true}, {"the first dimension", "size", true}})),
            "With the same values it fails for `int8` too.");
  EXPECT_EQ(conditions_sentence(of({{"the first dimension", "size", true}})), "");
}

TEST(Conditions, SizesAreNamedWhereLongerOnesAreRight) {
  const std::vector<Conditions::Case> rows = {{"the first dimension", "size", false}};
  EXPECT_EQ(conditions_sentence(of(rows)),
            "With the same values it is right where the first dimension of the inputs is three times as long.");
  EXPECT_EQ(condition_in_title(of(rows, {{1, 3}})), "shape [1, 3]");
  EXPECT_EQ(condition_in_title(of(rows)), "") << "the inputs differ in their sizes";
  const std::vector<Conditions::Case> both = {
      {"int8", "dtype", false}, {"int16", "dtype", false}, {"the first dimension", "size", false}};
  EXPECT_EQ(condition_in_title(of(both, {{1}})), "uint8[1]");
  const std::vector<Conditions::Case> one = {{"the first dimension", "size", false},
                                             {"the last dimension", "size", true}};
  EXPECT_EQ(condition_in_title(of(one, {{1, 3}})), "") << "longer ones fail as well";
}

TEST(Conditions, AScalarIsNamedWhereAVectorIsRight) {
  const Conditions conditions = of({{"1-d", "rank", false}, {"int8", "dtype", true}});
  EXPECT_EQ(conditions_sentence(conditions),
            "With the same values it fails for `int8` too; it is right for 1-d inputs.");
  EXPECT_EQ(condition_in_title(conditions), "a 0-d tensor");
}

} // namespace
} // namespace repro_minify
