#include "bench/planted/measure.h"

#include "reduce/search_stages.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace repro_minify::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct TooMany {};

/// One reduction. A set that was asked before costs nothing: all tools are given a memory.
class Run {
public:
  Run(const planted::Predicate &predicate, const IndexSet &all, int most_queries)
      : predicate_(predicate), nodes_(all.size()), most_queries_(most_queries) {
    answers_.remember(fingerprint(all), true);
  }

  bool fails(const IndexSet &kept) {
    const auto begin = Clock::now();
    const bool answer = answered(kept);
    in_oracle += seconds_since(begin);
    return answer;
  }

  int queries = 0;
  double work = 0, in_oracle = 0;

private:
  bool answered(const IndexSet &kept) {
    const Fingerprint key = fingerprint(kept);
    if (const auto known = answers_.find(key))
      return *known;
    if (queries == most_queries_)
      throw TooMany{};
    ++queries;
    work += static_cast<double>(kept.size()) / static_cast<double>(nodes_);
    const bool answer = predicate_(kept);
    answers_.remember(key, answer);
    return answer;
  }

  const planted::Predicate &predicate_;
  std::size_t nodes_;
  int most_queries_;
  Answers answers_;
};

double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace

Measurement measure(const Tool &tool, const Row &row, int seeds, int most_queries) {
  const IndexSet all = planted::everything(row.model->dataflow.size());
  Measurement result;
  std::vector<double> left, queries, work, wall;
  for (int seed = 0; seed < seeds && !result.gave_up; ++seed) {
    const planted::Predicate predicate = row.plant(static_cast<std::uint64_t>(seed));
    Run run(predicate, all, most_queries);
    const auto begin = Clock::now();
    std::size_t kept = all.size();
    try {
      kept = tool.reduce(all, *row.model, [&](const IndexSet &set) { return run.fails(set); }).size();
    } catch (TooMany) {
      result.gave_up = true;
    }
    wall.push_back(seconds_since(begin) - run.in_oracle);
    left.push_back(static_cast<double>(kept));
    queries.push_back(run.queries);
    work.push_back(run.work);
  }
  const auto middle = [&](const std::vector<double> &values) { return row.median ? median(values) : mean(values); };
  return {row.name,      tool.name,    row.model->dataflow.size(),
          row.needed,    middle(left), middle(queries),
          middle(work),  middle(wall), row.bound,
          result.gave_up};
}

} // namespace repro_minify::bench
