// Tests that a guess at what comes next is made when it is needed, and once.
#include "reduce/search_futures.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

/// Names "far 1", "far 2".
Foresight two_far_away() {
  return [named = 0]() mutable {
    return named < 2 ? std::optional(Guess{"far " + std::to_string(++named), {}, {}}) : std::nullopt;
  };
}

struct Made {
  int near = 0;
  int foresights = 0;

  LazyGuess guess(const std::string &hash) {
    return [this, hash] {
      ++near;
      return Guess{hash, {}, {}};
    };
  }
  MakeForesight foresight() {
    return [this] {
      ++foresights;
      return two_far_away();
    };
  }
};

TEST(Upcoming, IsWhatIsNamedThenWhatIsForeseen) {
  Made made;
  Upcoming upcoming({made.guess("near 1"), made.guess("near 2")}, made.foresight());
  for (const char *expected : {"near 1", "near 2", "far 1", "far 2"})
    EXPECT_EQ(upcoming.next().value().hash, expected);
  EXPECT_FALSE(upcoming.next());
  EXPECT_EQ(made.foresights, 1);
}

TEST(Upcoming, IsMadeOnFirstUse) {
  Made made;
  Upcoming upcoming({made.guess("near 1"), made.guess("near 2")}, made.foresight());
  EXPECT_EQ(made.near, 0);
  upcoming.next();
  EXPECT_EQ(made.near, 1);
  EXPECT_TRUE(upcoming.names("near 2"));
  EXPECT_FALSE(upcoming.names("far 1")); // only the Foresight names it
  upcoming.next();
  EXPECT_EQ(made.near, 2);
  EXPECT_EQ(made.foresights, 0);
}

TEST(Upcoming, MayBeNothing) {
  Upcoming upcoming({}, {});
  EXPECT_FALSE(upcoming.names("anything"));
  EXPECT_FALSE(upcoming.next());
}

} // namespace
} // namespace repro_minify
