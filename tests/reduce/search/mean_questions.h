// How many questions a search asks on average, on planted failures of 1,000 nodes.
#pragma once
#include "reduce/search/planted_faults.h"

#include <cstdint>
#include <functional>

namespace repro_minify::planted {

/// A failing subset of all nodes of the model, all of which fail.
using Reduce = std::function<IndexSet(const Model &model, const Predicate &fails)>;

/// Blocks one after the other, as where CallCounts locks the counts; 24 seeds from `first_seed` on.
double questions_on_blocks(const Reduce &reduce, std::uint64_t first_seed);
/// Graphs of other kinds, and failures of other shapes.
double questions_on_other_graphs(const Reduce &reduce);

} // namespace repro_minify::planted
