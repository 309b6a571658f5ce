#include "core/text.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

const std::vector<std::string> names = {"eager", "jit", "freeze", "inductor", "inductor-like"};

TEST(Closest, FindsWhatOneOrTwoLettersMiss) {
  EXPECT_EQ(closest("jti", names), "jit");       // swapped
  EXPECT_EQ(closest("frezee", names), "freeze"); // two others
  EXPECT_EQ(closest("inducto", names), "inductor");
  EXPECT_EQ(closest("inductr-like", names), "inductor-like");
  EXPECT_EQ(closest("Eager", names), "eager");
}

TEST(Closest, OfTwoLettersMayLackOne) {
  EXPECT_EQ(closest("rn", {"analyze", "run"}), "run");
  EXPECT_EQ(closest("xy", {"run", "jit"}), "");
}

TEST(Closest, FindsTheOnlyNameThatBeginsSo) {
  EXPECT_EQ(closest("fre", names), "freeze");
  EXPECT_EQ(closest("--time", {"--tol", "--time-budget"}), "--time-budget");
  EXPECT_EQ(closest("indu", names), "") << "two do";
  EXPECT_EQ(closest("fr", names), "") << "too little to go by";
}

TEST(Closest, IsNothingWhereNoneIsNear) {
  EXPECT_EQ(closest("warp-drive", names), "");
  EXPECT_EQ(closest("", names), "");
  EXPECT_EQ(closest("x", names), "");
  EXPECT_EQ(closest("jit", {}), "");
  EXPECT_EQ(closest(std::string(1000, 'j'), names), "");
}

/// Hyphens in front are on both sides, and make no two words alike.
TEST(Closest, DoesNotCountHyphensInFront) {
  EXPECT_EQ(closest("--timeuot", {"--tol", "--timeout"}), "--timeout");
  EXPECT_EQ(closest("--abc", {"--tol", "--xyz"}), "");
}

TEST(Closest, OfSeveralAsNearIsTheFirst) {
  EXPECT_EQ(closest("cat", {"bat", "hat"}), "bat");
}

TEST(DidYouMean, IsAPartOfASentence) {
  EXPECT_EQ(did_you_mean("jti", names), "; did you mean jit?");
  EXPECT_EQ(did_you_mean("warp-drive", names), "");
}

} // namespace
} // namespace repro_minify
