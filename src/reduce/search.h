// The search, which knows index sets and an oracle, but nothing of graphs of tensors or of processes.
#pragma once

#include "core/dataflow.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Answers whether a kept set still fails with the original Signature. Implementations remember answers, so asking
/// twice is free. `fails` may throw (interrupted, out of time); the search lets it pass: the implementation saw every
/// accepted set and keeps the best.
class Oracle {
public:
  virtual ~Oracle() = default;
  /// Blocks until the answer for `kept` is known.
  virtual bool fails(const IndexSet &kept) = 0;
  /// Sets that are likely to be asked soon, likeliest first. The very first is the one that fails() is called with
  /// right after, so the list as it stands is what to give to the workers. An implementation with idle workers may
  /// judge the others ahead of time; the search's decisions never depend on whether it did, so any number of jobs gives
  /// the same result. Not called with a speculation_width of 1 or less.
  virtual void speculate(const std::vector<IndexSet> &likely_next) { (void)likely_next; }
};

struct SearchOptions {
  /// Sets worth one try each before anything else (a window around a suspect, one representative of each repeat).
  std::vector<IndexSet> guesses;
  /// How suspicious each node is, compared with the others: one non-negative number per node of the Dataflow, empty
  /// where nothing is known. The search bisects suspicion instead of node counts; a wrong one costs a few questions.
  std::vector<double> weights;
  /// One label per node of the Dataflow, the same for equal operators (kind, dtype, attributes), or empty. With them
  /// the search tries one example of each repeated piece of the program, before it bisects.
  std::vector<std::string> labels;
  /// True if every single deletion is tried at the end. Without it the result may have more than is needed; for a
  /// search that is followed by another one.
  bool certify = true;
  /// Most nodes are expected to be needed, so that the single deletions are the questions to begin with.
  bool mostly_needed = false;
  /// How many sets a call of speculate() may propose (the number of workers; any value gives the same result).
  int speculation_width = 1;
};

/// Finds a failing subset of `start`, which must already have been seen failing. With SearchOptions::certify no single
/// element of it can go: each was tried. Also right when the oracle is not monotone: only sets that were seen failing
/// are ever accepted.
/// Throws std::invalid_argument for weights or labels that are not one per node, or a weight that is no number of 0 or
/// more.
IndexSet minimize(const IndexSet &start, const Dataflow &dataflow, Oracle &oracle, const SearchOptions &options);

// Which of the ordered steps of a compilation is guilty? Knows nothing of LibTorch.

/// Returns true if it is still wrong when these steps run, and no others; their numbers ascend.
using StepsFail = std::function<bool(const std::vector<int> &steps)>;

struct GuiltySearch {
  bool fails_with_all = false;
  bool fails_with_none = false;
  /// The last step of a beginning that fails; without that step the same beginning passes. Nothing unless it fails with
  /// all and passes with none.
  std::optional<int> step;
  bool passes_without = false; ///< all the others together pass
  /// Earlier steps without which it passes, though the guilty one runs: with these and it alone, it fails.
  std::vector<int> needs;
};

/// `steps` of them, at least one. Asks about log2(steps) + 4 times, and as often again for each step of `needs`.
GuiltySearch find_guilty_step(int steps, const StepsFail &fails);

} // namespace repro_minify
