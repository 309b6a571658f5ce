// Planted failing sets of many kinds, monotone or not: whatever the oracle does, the result is 1-minimal by brute
// force.
#include "recording_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace repro_minify {
namespace {

using namespace planted;

/// Expects what must hold of every search, whatever the oracle.
void expect_honest(const IndexSet &start, const RecordingOracle &oracle, const IndexSet &kept) {
  std::set<IndexSet> asked, failing{start};
  for (std::size_t i = 0; i < oracle.asked.size(); ++i) {
    const IndexSet &set = oracle.asked[i];
    EXPECT_TRUE(asked.insert(set).second) << "asked twice";
    EXPECT_NE(set, start) << "asked what was given as seen failing";
    EXPECT_TRUE(contains_all(start, set));
    if (set.empty()) {
      EXPECT_TRUE(std::any_of(failing.begin(), failing.end(), [](const IndexSet &f) { return f.size() == 1; }))
          << "nothing at all was tried before a single node";
    }
    if (oracle.answers[i])
      failing.insert(set);
  }
  EXPECT_TRUE(failing.contains(kept)) << "accepted without having been seen failing";
}

IndexSet minimize_and_check(const IndexSet &start, const Dataflow &dataflow, const Predicate &predicate,
                            const SearchOptions &options = {}) {
  RecordingOracle oracle(predicate);
  const IndexSet kept = minimize(start, dataflow, oracle, options);
  expect_honest(start, oracle, kept);
  EXPECT_TRUE(is_one_minimal(kept, predicate));
  return kept;
}

IndexSet random_needed(const Dataflow &dataflow, Random &random) {
  const int count = 1 + below(random, std::min(8, dataflow.size()));
  switch (below(random, 4)) {
  case 0: // scattered
    return sample(random, dataflow.size(), count);
  case 1: { // next to each other in index order
    IndexSet needed = everything(count);
    const int first = below(random, dataflow.size() - count + 1);
    for (int &node : needed)
      node += first;
    return needed;
  }
  case 2: { // one after the other in the graph
    IndexSet chain = random_chain(dataflow, random, count);
    std::sort(chain.begin(), chain.end());
    return chain;
  }
  default: // close to each other in the graph
    return random_connected(dataflow, random, count);
  }
}

class SearchOverSizes : public testing::Test {
protected:
  /// Calls `test(random, dataflow)` on graphs of 1 to 60 nodes, half of them with node numbers that are not in order.
  template <typename Test> static void on_graphs(int repeats, Test test) {
    for (int size = 1; size <= 60; ++size)
      for (int repeat = 0; repeat < repeats; ++repeat) {
        Random random(static_cast<std::uint64_t>(size * 1000 + repeat));
        const Dataflow dataflow = random_dataflow(random, size, repeat % 2 == 1);
        test(random, dataflow);
        if (testing::Test::HasFailure())
          FAIL() << "size " << size << ", repeat " << repeat;
      }
  }
};

TEST_F(SearchOverSizes, FindsTheOneSetThatIsNeeded) {
  on_graphs(40, [](Random &random, const Dataflow &dataflow) {
    const IndexSet needed = random_needed(dataflow, random);
    const auto predicate = [&](const IndexSet &kept) { return contains_all(kept, needed); };
    EXPECT_EQ(minimize_and_check(everything(dataflow.size()), dataflow, predicate), needed);
  });
}

TEST_F(SearchOverSizes, FindsOneOfSeveralSetsThatWouldDo) {
  on_graphs(20, [](Random &random, const Dataflow &dataflow) {
    std::vector<IndexSet> groups(static_cast<std::size_t>(2 + below(random, 5)));
    for (IndexSet &group : groups)
      group = random_needed(dataflow, random);
    minimize_and_check(everything(dataflow.size()), dataflow, [&](const IndexSet &kept) {
      return std::any_of(groups.begin(), groups.end(),
                         [&](const IndexSet &group) { return contains_all(kept, group); });
    });
  });
}

TEST_F(SearchOverSizes, CountsUpToAThreshold) {
  on_graphs(8, [](Random &random, const Dataflow &dataflow) {
    const auto threshold = static_cast<std::size_t>(1 + below(random, dataflow.size()));
    const IndexSet kept = minimize_and_check(everything(dataflow.size()), dataflow,
                                             [&](const IndexSet &set) { return set.size() >= threshold; });
    EXPECT_EQ(kept.size(), threshold);
  });
}

TEST_F(SearchOverSizes, SurvivesCandidatesThatPassAtRandom) {
  on_graphs(30, [](Random &random, const Dataflow &dataflow) {
    const IndexSet all = everything(dataflow.size()), needed = random_needed(dataflow, random);
    const std::uint64_t seed = random();
    const unsigned masked = static_cast<unsigned>(below(random, 10)) * 0x10000u / 10u;
    minimize_and_check(all, dataflow, [&](const IndexSet &kept) {
      return kept == all || (contains_all(kept, needed) && noise(kept, seed) >= masked);
    });
  });
}

TEST_F(SearchOverSizes, SurvivesAnswersThatAreNoiseAlone) {
  on_graphs(20, [](Random &random, const Dataflow &dataflow) {
    const IndexSet all = everything(dataflow.size());
    const std::uint64_t seed = random();
    minimize_and_check(all, dataflow, [&](const IndexSet &kept) { return kept == all || noise(kept, seed) % 2 == 0; });
  });
}

TEST_F(SearchOverSizes, SurvivesParityAndNodesThatHideTheFailure) {
  on_graphs(10, [](Random &random, const Dataflow &dataflow) {
    const IndexSet all = everything(dataflow.size());
    const auto odd = [&](const IndexSet &kept) { return kept == all || kept.size() % 2 == 1; };
    minimize_and_check(all, dataflow, odd);
    // Fails with `needed`, unless `hides` is there without `reveals`.
    const IndexSet needed = random_needed(dataflow, random);
    const IndexSet hides = sample(random, dataflow.size(), 1), reveals = sample(random, dataflow.size(), 1);
    minimize_and_check(all, dataflow, [&](const IndexSet &kept) {
      return kept == all || (contains_all(kept, needed) && (!contains_all(kept, hides) || contains_all(kept, reveals)));
    });
  });
}

TEST_F(SearchOverSizes, KeepsEverythingWhereOnlyEverythingFails) {
  on_graphs(2, [](Random &, const Dataflow &dataflow) {
    const IndexSet all = everything(dataflow.size());
    EXPECT_EQ(minimize_and_check(all, dataflow, [&](const IndexSet &kept) { return kept == all; }), all);
  });
}

TEST_F(SearchOverSizes, KeepsNothingWhereNothingFailsAsWell) {
  on_graphs(2, [](Random &, const Dataflow &dataflow) {
    EXPECT_EQ(minimize_and_check(everything(dataflow.size()), dataflow, [](const IndexSet &) { return true; }),
              IndexSet{});
  });
}

TEST_F(SearchOverSizes, StaysInsideItsStart) {
  on_graphs(10, [](Random &random, const Dataflow &dataflow) {
    const IndexSet start = sample(random, dataflow.size(), 1 + below(random, dataflow.size()));
    const auto threshold = static_cast<std::size_t>(1 + below(random, static_cast<int>(start.size())));
    minimize_and_check(start, dataflow, [&](const IndexSet &kept) { return kept.size() >= threshold; });
  });
}

TEST_F(SearchOverSizes, TakesGuessesGoodAndBad) {
  on_graphs(10, [](Random &random, const Dataflow &dataflow) {
    const IndexSet needed = random_needed(dataflow, random);
    SearchOptions options;
    options.guesses = {sample(random, dataflow.size(), 3),
                       dataflow.ball(needed, 1, everything(dataflow.size())),
                       IndexSet{},
                       everything(dataflow.size()),
                       IndexSet{dataflow.size() + 5},
                       needed};
    const auto predicate = [&](const IndexSet &kept) { return contains_all(kept, needed); };
    EXPECT_EQ(minimize_and_check(everything(dataflow.size()), dataflow, predicate, options), needed);
  });
}

TEST_F(SearchOverSizes, FindsTheOneSetUnderAnySuspicion) {
  on_graphs(20, [](Random &random, const Dataflow &dataflow) {
    const IndexSet needed = random_needed(dataflow, random);
    SearchOptions options;
    const int kind = below(random, 4);
    for (int node = 0; node < dataflow.size(); ++node) {
      options.weights.push_back(kind == 0 ? 0 : kind == 1 ? 1e300 : std::pow(10.0, below(random, 40) - 20));
      options.labels.push_back("operator " + std::to_string(below(random, 3)));
    }
    if (kind == 3)
      for (int node : needed)
        options.weights[static_cast<std::size_t>(node)] = 0;
    const auto predicate = [&](const IndexSet &kept) { return contains_all(kept, needed); };
    EXPECT_EQ(minimize_and_check(everything(dataflow.size()), dataflow, predicate, options), needed);
  });
}

TEST_F(SearchOverSizes, GivesTheSameForAnyNumberOfWorkers) {
  on_graphs(8, [](Random &random, const Dataflow &dataflow) {
    const IndexSet all = everything(dataflow.size()), needed = random_needed(dataflow, random);
    const std::uint64_t seed = random();
    const unsigned masked = below(random, 2) == 0 ? 0 : 0x4000;
    const auto predicate = [&](const IndexSet &kept) {
      return kept == all || (contains_all(kept, needed) && noise(kept, seed) >= masked);
    };
    SearchOptions options;
    if (below(random, 2) == 0)
      for (int node = 0; node < dataflow.size(); ++node)
        options.weights.push_back(below(random, 10));
    RecordingOracle alone(predicate);
    const IndexSet expected = minimize(all, dataflow, alone, options);
    EXPECT_TRUE(alone.speculated.empty());
    for (int width : {2, 4, 8}) {
      RecordingOracle oracle(predicate);
      options.speculation_width = width;
      EXPECT_EQ(minimize(all, dataflow, oracle, options), expected);
      EXPECT_EQ(oracle.asked, alone.asked);
      ASSERT_EQ(oracle.speculated.size(), oracle.asked.size());
      for (std::size_t i = 0; i < oracle.asked.size(); ++i) {
        const std::vector<IndexSet> &announced = oracle.speculated[i];
        ASSERT_FALSE(announced.empty());
        EXPECT_LE(announced.size(), static_cast<std::size_t>(width));
        EXPECT_EQ(announced.front(), oracle.asked[i]);
        EXPECT_EQ(std::set<IndexSet>(announced.begin(), announced.end()).size(), announced.size());
      }
    }
  });
}

TEST_F(SearchOverSizes, AsksLessWithoutACertificate) {
  on_graphs(10, [](Random &random, const Dataflow &dataflow) {
    const IndexSet needed = random_needed(dataflow, random);
    const Predicate predicate = [&](const IndexSet &kept) { return contains_all(kept, needed); };
    RecordingOracle certified(predicate), oracle(predicate);
    minimize(everything(dataflow.size()), dataflow, certified, {});
    SearchOptions options;
    options.certify = false;
    const IndexSet kept = minimize(everything(dataflow.size()), dataflow, oracle, options);
    expect_honest(everything(dataflow.size()), oracle, kept);
    EXPECT_TRUE(contains_all(kept, needed));
    EXPECT_LE(oracle.asked.size(), certified.asked.size());
  });
}

TEST_F(SearchOverSizes, LetsExceptionsOfTheOraclePass) {
  struct Interrupted : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  on_graphs(4, [](Random &random, const Dataflow &dataflow) {
    const IndexSet needed = random_needed(dataflow, random);
    const auto predicate = [&](const IndexSet &kept) { return contains_all(kept, needed); };
    RecordingOracle complete(predicate);
    minimize(everything(dataflow.size()), dataflow, complete, {});
    int calls_left = below(random, static_cast<int>(complete.asked.size()));
    RecordingOracle interrupted([&](const IndexSet &kept) {
      if (calls_left-- == 0)
        throw Interrupted("stop");
      return predicate(kept);
    });
    SearchOptions options;
    options.speculation_width = 1 + below(random, 4);
    EXPECT_THROW(minimize(everything(dataflow.size()), dataflow, interrupted, options), Interrupted);
  });
}

TEST(Search, AnEmptyStartIsItsOwnResult) {
  EXPECT_EQ(minimize_and_check({}, Dataflow(3, {{0, 1}}), [](const IndexSet &) { return true; }), IndexSet{});
}

TEST(Search, ARightGuessSavesTheBisection) {
  const Model model = transformer(2000);
  SearchOptions options;
  options.guesses = {model.dataflow.ball({1000}, 3, everything(model.dataflow.size()))};
  RecordingOracle oracle([](const IndexSet &kept) { return contains_all(kept, {1000}); });
  EXPECT_EQ(minimize(everything(model.dataflow.size()), model.dataflow, oracle, options), IndexSet{1000});
  EXPECT_LE(oracle.asked.size(), 9u);
}

std::size_t calls_with(const Model &model, const IndexSet &needed, const SearchOptions &options) {
  RecordingOracle oracle([&](const IndexSet &kept) { return contains_all(kept, needed); });
  EXPECT_EQ(minimize(everything(model.dataflow.size()), model.dataflow, oracle, options), needed);
  return oracle.asked.size();
}

TEST(Search, SuspicionIsBisectedInsteadOfNodes) {
  const Model model = transformer(5000);
  const IndexSet needed{1234, 3456};
  SearchOptions right, wrong;
  right.weights.assign(model.kinds.size(), 0);
  for (int node : needed)
    right.weights[static_cast<std::size_t>(node)] = 1;
  wrong.weights.assign(model.kinds.size(), 0);
  wrong.weights[2345] = 1;
  const std::size_t without = calls_with(model, needed, {});
  EXPECT_LE(calls_with(model, needed, right), 14u);
  EXPECT_LE(calls_with(model, needed, wrong), without + 5);
}

TEST(Search, RepeatsAreCollapsedWhereOperatorsAreKnown) {
  const Model model = transformer(5000);
  const Predicate predicate = fault(model, "chain3_rep", 3);
  RecordingOracle blind(predicate), knowing(predicate);
  SearchOptions options;
  options.labels = model.kinds;
  minimize(everything(model.dataflow.size()), model.dataflow, blind, {});
  minimize(everything(model.dataflow.size()), model.dataflow, knowing, options);
  EXPECT_LT(knowing.asked.front().size(), 200u);
  EXPECT_LT(knowing.asked.size(), blind.asked.size());
}

TEST(Search, RefusesOptionsThatDoNotFitTheGraph) {
  const Dataflow dataflow(3, {{0, 1}});
  RecordingOracle oracle([](const IndexSet &) { return false; });
  const auto refused = [&](const SearchOptions &options) {
    EXPECT_THROW(minimize({0, 1, 2}, dataflow, oracle, options), std::invalid_argument);
  };
  SearchOptions options;
  for (const std::vector<double> &weights : std::vector<std::vector<double>>{
           {1}, {1, 2, -1}, {1, 2, std::numeric_limits<double>::quiet_NaN()}, {1, 2, HUGE_VAL}}) {
    options.weights = weights;
    refused(options);
  }
  options.weights.clear();
  options.labels = {"one"};
  refused(options);
  EXPECT_TRUE(oracle.asked.empty());
}

TEST(Search, LargeGraphsOfEveryFamily) {
  for (int size : {300, 1000, 3000}) {
    const Model model = transformer(size);
    for (const char *family : {"single", "single_rep", "chain3", "chain3_rep", "far2", "window6", "accum8"})
      for (std::uint64_t seed = 100; seed < 104; ++seed)
        minimize_and_check(everything(model.dataflow.size()), model.dataflow, fault(model, family, seed));
  }
}

TEST(Search, LargeAndNotMonotone) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const Dataflow dataflow = random_dataflow(random, 1500, seed % 2 == 1);
    const IndexSet all = everything(dataflow.size()), needed = random_connected(dataflow, random, 12);
    minimize_and_check(all, dataflow, [&](const IndexSet &kept) {
      return kept == all || (contains_all(kept, needed) && noise(kept, seed) >= 0x6000);
    });
  }
}

TEST(Search, ManyNodesNeeded) {
  Random random(1);
  const Dataflow dataflow = random_dataflow(random, 800, false);
  const IndexSet all = everything(dataflow.size()), needed = sample(random, dataflow.size(), 400);
  EXPECT_EQ(minimize_and_check(all, dataflow, [&](const IndexSet &kept) { return contains_all(kept, needed); }),
            needed);
  EXPECT_EQ(minimize_and_check(all, dataflow, [&](const IndexSet &kept) { return kept == all; }), all);
}

} // namespace
} // namespace repro_minify
