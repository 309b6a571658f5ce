// How many checks a search costs is our claim; this locks it.
#include "recording_oracle.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <utility>

namespace repro_minify {
namespace {

using namespace planted;

constexpr int seed_count = 48;
constexpr int seeds_with_workers = 12; ///< fewer: looking ahead in large graphs is what takes the time here
constexpr int worker_count = 8;

/// Counts how often `worker_count` workers would have been waited for, if each judged one announced set at a time.
class RoundCounter final : public Oracle {
public:
  explicit RoundCounter(Predicate predicate) : predicate_(std::move(predicate)) {}
  bool fails(const IndexSet &kept) override { return predicate_(kept); }
  void speculate(const std::vector<IndexSet> &likely_next) override {
    if (judged_.contains(likely_next.front()))
      return;
    ++rounds;
    judged_.insert(likely_next.begin(), likely_next.end());
  }
  int rounds = 0;

private:
  Predicate predicate_;
  std::set<IndexSet> judged_;
};

struct Cost {
  double calls = 0;
  double work = 0;   ///< sum of the sizes of all sets asked, in whole models
  double rounds = 0; ///< with worker_count workers
};

Cost mean_cost(const Model &model, const std::string &family) {
  Cost sum;
  const IndexSet all = everything(model.dataflow.size());
  SearchOptions eight_workers;
  eight_workers.speculation_width = worker_count;
  for (std::uint64_t seed = 0; seed < seed_count; ++seed) {
    const Predicate predicate = fault(model, family, seed);
    RecordingOracle oracle(predicate);
    const SearchResult result = minimize(all, model.dataflow, oracle, {});
    EXPECT_TRUE(is_one_minimal(result.kept, predicate)) << family << " seed " << seed;
    sum.calls += static_cast<double>(oracle.asked.size());
    for (const IndexSet &asked : oracle.asked)
      sum.work += static_cast<double>(asked.size()) / model.dataflow.size();
    if (seed >= seeds_with_workers)
      continue;
    RoundCounter counter(predicate);
    EXPECT_EQ(minimize(all, model.dataflow, counter, eight_workers).kept, result.kept);
    sum.rounds += counter.rounds;
  }
  return {sum.calls / seed_count, sum.work / seed_count, sum.rounds / seeds_with_workers};
}

TEST(CallCounts, StayWithinTheirBounds) {
  struct Row {
    const char *family;
    double calls;
    double rounds;
  };
  // Ours at the time of writing and some slack. The calls include the one that asks whether nothing at all fails.
  const Row bounds[] = {{"single", 16, 6},    {"single_rep", 16, 6}, {"chain3", 21, 7}, {"chain3_rep", 20.5, 7},
                        {"far2", 38.5, 12.5}, {"window6", 39, 11},   {"accum8", 74, 20}};
  const Model model = transformer(5000);
  std::printf("5000 nodes, mean of %d seeds; work in whole models\n%-12s %8s %8s %20s\n", seed_count, "fault", "calls",
              "work", "rounds of 8 workers");
  for (const Row &row : bounds) {
    const Cost cost = mean_cost(model, row.family);
    std::printf("%-12s %8.1f %8.1f %20.1f\n", row.family, cost.calls, cost.work, cost.rounds);
    EXPECT_LE(cost.calls, row.calls) << row.family;
    EXPECT_LE(cost.rounds, row.rounds) << row.family;
  }
}

} // namespace
} // namespace repro_minify
