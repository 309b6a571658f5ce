#include "reduce/search_expectation.h"

#include "planted_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace repro_minify {
namespace {

using planted::below;
using planted::Random;

TEST(Lineup, SlicesAreSortedAndHoldWhatIsAlwaysThere) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const int size = 1 + below(random, 80);
    IndexSet always, order = planted::everything(size);
    for (int i = 0; i < 3; ++i)
      always.push_back(size + i);
    std::shuffle(order.begin(), order.end(), random);
    const Lineup line(order, always, std::vector<double>(order.size() + 1, 1));
    const auto begin = static_cast<std::size_t>(below(random, size + 1));
    const auto end = begin + static_cast<std::size_t>(below(random, size + 1 - static_cast<int>(begin)));
    IndexSet expected = line.nodes(begin, end);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), order.begin() + static_cast<std::ptrdiff_t>(begin)));
    expected.insert(expected.end(), always.begin(), always.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(line.slice(begin, end), expected);
  }
}

TEST(Lineup, SplitsMassMoreEvenlyThanAnyOtherPlace) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const int size = 2 + below(random, 40);
    std::vector<double> mass;
    for (int length = 0; length <= size; ++length)
      mass.push_back(below(random, 3) == 0 ? 0 : below(random, 100));
    const Lineup line(planted::everything(size), {}, mass);
    const auto shortest = static_cast<std::size_t>(below(random, size));
    const auto longest = shortest + 1 + static_cast<std::size_t>(below(random, size - static_cast<int>(shortest)));
    const std::size_t split = line.split(shortest, longest);
    ASSERT_GE(split, shortest);
    ASSERT_LT(split, longest);
    const auto uneven = [&](std::size_t at) { return std::abs(line.mass(shortest, at) - line.mass(at + 1, longest)); };
    for (std::size_t at = shortest; at < longest; ++at)
      EXPECT_LE(uneven(split), uneven(at)) << "seed " << seed;
  }
}

TEST(Lineup, NarrowedKeepsOrderAndMass) {
  const Lineup line({7, 3, 5, 1}, {9}, {0.5, 1, 2, 4, 8});
  const Lineup narrowed = line.narrowed(3, {1, 5, 7, 9});
  EXPECT_EQ(narrowed.nodes(0, narrowed.size()), (std::vector<int>{7, 5}));
  EXPECT_EQ(narrowed.always(), IndexSet{9});
  EXPECT_EQ(narrowed.mass(0, 0), 0.5);
  EXPECT_EQ(narrowed.mass(1, 1), 1);
  EXPECT_EQ(narrowed.mass(2, 2), 4);
}

} // namespace
} // namespace repro_minify
