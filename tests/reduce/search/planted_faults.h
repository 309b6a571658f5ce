// Graphs with faults planted in them; for the tests of the search and for its bench.
#pragma once
#include "core/dataflow.h"

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace repro_minify::planted {

/// Returns true if the failure shows when only these nodes are kept.
using Predicate = std::function<bool(const IndexSet &)>;
using Random = std::mt19937_64;

/// Uniform in 0..bound-1. The distributions of the standard library differ between implementations; a table of call
/// counts must not.
int below(Random &random, int bound);
IndexSet sample(Random &random, int size, int count);
bool contains_all(const IndexSet &set, const IndexSet &subset);
IndexSet everything(int size);

/// A model of at least `size` nodes: transformer-like blocks of 25 nodes with a split and two residual connections.
struct Model {
  Dataflow dataflow;
  std::vector<std::string> kinds; ///< operator of each node
};
Model transformer(int size);

/// A connected random graph; with `shuffled`, node numbers say nothing about the order of execution.
Dataflow random_dataflow(Random &random, int size, bool shuffled);

/// A fault of one of the families of the table: "single", "single_rep", "chain3", "chain3_rep", "far2", "window6",
/// "accum8".
Predicate fault(const Model &model, const std::string &family, std::uint64_t seed);
/// A path of `length` nodes, or fewer where the graph ends before.
IndexSet random_chain(const Dataflow &dataflow, Random &random, int length);
IndexSet random_connected(const Dataflow &dataflow, Random &random, int count);

/// How several nodes that are all needed lie in a program: next to each other in index order, anywhere, or each reading
/// what the one before makes.
enum class Shape { Adjacent, Scattered, Chain };
/// `count` nodes. The graph must have a chain of that length where one is asked for.
IndexSet planted_nodes(const Dataflow &dataflow, Random &random, Shape shape, int count);
/// log2 of how many sets of `count` nodes there are: no search that is right about all of them asks less on average.
double information_bound(int nodes, int count);

/// Sixteen bits of a set that look random and are always the same.
unsigned noise(const IndexSet &set, std::uint64_t seed);

/// True if `kept` fails and no single element of it can go, by asking the predicate itself.
bool is_one_minimal(const IndexSet &kept, const Predicate &predicate);

} // namespace repro_minify::planted
