// An oracle that writes down what it is asked.
#pragma once
#include "planted_faults.h"

#include "reduce/search.h"

#include <utility>
#include <vector>

namespace repro_minify::planted {

/// Fails the running test on a set that is not sorted; counts distinct sets.
class RecordingOracle final : public Oracle {
public:
  explicit RecordingOracle(Predicate predicate) : predicate_(std::move(predicate)) {}
  bool fails(const IndexSet &kept) override;
  void speculate(const std::vector<IndexSet> &likely_next) override { speculated.push_back(likely_next); }

  std::vector<IndexSet> asked;
  std::vector<bool> answers;
  std::vector<std::vector<IndexSet>> speculated;

private:
  Predicate predicate_;
};

} // namespace repro_minify::planted
