// The search for the guilty step, on planted pipelines.
#include "reduce/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace repro_minify {
namespace {

bool contains(const std::vector<int> &steps, std::initializer_list<int> wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](int step) { return std::count(steps.begin(), steps.end(), step) != 0; });
}

TEST(GuiltyStep, FindsEachOfAPipelineInFewQuestions) {
  for (int steps : {1, 2, 3, 60, 61})
    for (int guilty = 0; guilty < steps; ++guilty) {
      int asked = 0;
      const auto found = find_guilty_step(steps, [&](const std::vector<int> &run) {
        ++asked;
        EXPECT_TRUE(std::is_sorted(run.begin(), run.end()));
        return contains(run, {guilty});
      });
      EXPECT_EQ(found.step, guilty);
      EXPECT_TRUE(found.passes_without);
      EXPECT_TRUE(found.needs.empty());
      EXPECT_LE(asked, std::ceil(std::log2(steps)) + 4);
    }
}

TEST(GuiltyStep, TellsAllThatHaveToRunTogether) {
  const auto found = find_guilty_step(50, [](const std::vector<int> &run) { return contains(run, {3, 4, 17, 40}); });
  EXPECT_EQ(found.step, 40);
  EXPECT_TRUE(found.passes_without);
  EXPECT_EQ(found.needs, (std::vector<int>{3, 4, 17}));
}

TEST(GuiltyStep, SaysThatALaterStepDoesTheSame) {
  const auto found =
      find_guilty_step(20, [](const std::vector<int> &run) { return contains(run, {5}) || contains(run, {15}); });
  EXPECT_EQ(found.step, 5);
  EXPECT_FALSE(found.passes_without);
}

TEST(GuiltyStep, EndsWhereAStepMendsWhatAnotherBroke) {
  // Wrong with 2, right again with 6, wrong with 9: what is found has a neighbour that passes.
  const auto fails = [](const std::vector<int> &run) {
    return (contains(run, {2}) && !contains(run, {6})) || contains(run, {9});
  };
  const auto found = find_guilty_step(12, fails);
  ASSERT_TRUE(found.step);
  std::vector<int> beginning;
  for (int step = 0; step < *found.step; ++step)
    beginning.push_back(step);
  EXPECT_FALSE(fails(beginning));
  beginning.push_back(*found.step);
  EXPECT_TRUE(fails(beginning));
}

TEST(GuiltyStep, FindsNoneWhereTheStepsAreNotToBlame) {
  const auto always = find_guilty_step(9, [](const std::vector<int> &) { return true; });
  EXPECT_TRUE(always.fails_with_none);
  EXPECT_FALSE(always.step);
  const auto never = find_guilty_step(9, [](const std::vector<int> &) { return false; });
  EXPECT_FALSE(never.fails_with_all);
  EXPECT_FALSE(never.step);
}

} // namespace
} // namespace repro_minify
