// Splice: remove nodes and let their readers read something earlier instead. A cut can only turn a value into an input;
// where the failure needs a path from one node to another, only a splice makes the path shorter.
#include "reduce/passes/pass.h"

#include "reduce/passes/single_edits.h"
#include "reduce/passes/splicer.h"
#include "reduce/search/search.h"

#include <numeric>
#include <utility>

namespace repro_minify {
namespace {

/// With fewer sites than this, one by one costs no more than a search over sets.
constexpr int worth_a_search = 8;

class SpliceOracle : public Oracle {
public:
  SpliceOracle(PassContext &context, const Splicer &splicer) : context_(context), splicer_(splicer) {}

  bool fails(const IndexSet &kept) override {
    const auto next = std::exchange(likely_, {});
    return context_.fails(splicer_.keep(kept), next);
  }

  void speculate(const std::vector<IndexSet> &likely_next) override {
    likely_.clear();
    for (const auto &kept : likely_next)
      likely_.emplace_back([this, kept] { return splicer_.keep(kept); });
  }

private:
  PassContext &context_;
  const Splicer &splicer_;
  std::vector<Judge::LazyProgram> likely_;
};

/// Whole stretches: which of the Program's sites can go together.
void splice_stretches(PassContext &context) {
  if (order_of(context.current).operators < worth_a_search)
    return;
  const Splicer splicer(std::make_shared<Recording>(
      record(context.current, context.judge.test().settings, context.judge.options().limits)));
  if (splicer.sites() < worth_a_search)
    return;
  IndexSet all(static_cast<size_t>(splicer.sites()));
  std::iota(all.begin(), all.end(), 0);
  SpliceOracle oracle(context, splicer);
  SearchOptions search;
  search.speculation_width = context.judge.jobs();
  // After a cut, each end is needed and what lies between is often only the way from one to another.
  search.guesses = {splicer.ends()};
  minimize(all, splicer.dataflow(), oracle, search);
}

/// Single edits from the last node to the first, going on where one was accepted, until none of all is.
bool edit_one_by_one(PassContext &context) {
  bool any = false;
  for (bool accepted = true; accepted;) {
    accepted = false;
    for (int node = static_cast<int>(all_nodes(*context.current.graph).size()); node-- > 0;) {
      const int count = static_cast<int>(all_nodes(*context.current.graph).size());
      if (node < count && accept_first(context, single_edits(context.current, node)))
        accepted = true;
    }
    any |= accepted;
  }
  return any;
}

} // namespace

bool splice_nodes(PassContext &context) {
  const Order before = order_of(context.current);
  splice_stretches(context);
  edit_one_by_one(context);
  return order_of(context.current) < before;
}

} // namespace repro_minify
