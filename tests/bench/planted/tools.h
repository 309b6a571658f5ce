// The search algorithms that are compared: one file each, written from their publications.
#pragma once
#include "reduce/search/planted_faults.h"

#include <functional>
#include <string>
#include <vector>

namespace repro_minify::bench {

/// True if the failure shows with these nodes (sorted) alone.
using Fails = planted::Predicate;

struct Tool {
  std::string name;
  /// A failing subset of `all`, which fails itself.
  std::function<IndexSet(const IndexSet &all, const planted::Model &model, const Fails &fails)> reduce;
};

/// Ours first.
std::vector<Tool> tools();
Tool our_engine(int workers);

/// With more than one worker the search also says what it may ask next; here that is never judged ahead of time.
IndexSet engine(const IndexSet &all, const planted::Model &model, const Fails &fails, int workers);
/// Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
IndexSet ddmin(const IndexSet &all, const Fails &fails);
/// Wang et al., "Probabilistic Delta Debugging", FSE 2021; every element is needed with probability `first` at first.
IndexSet prob_dd(const IndexSet &all, const Fails &fails, double first);
/// Zhang et al., "Deep Dive into Probabilistic Delta Debugging": the same by counters (CDD).
IndexSet counter_dd(const IndexSet &all, const Fails &fails, double first);
/// LLVM's llvm-reduce: chunks are left out one by one and halved once none can be.
IndexSet chunk_halving(const IndexSet &all, const Fails &fails);

/// `all` without the nodes at positions begin..end-1.
IndexSet without(const IndexSet &all, std::size_t begin, std::size_t end);

} // namespace repro_minify::bench
