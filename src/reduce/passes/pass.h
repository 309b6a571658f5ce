// A reduction pass proposes smaller Programs; the engine decides. One file a pass, one row in the registry.
//
// A pass may propose anything: what does not fail with the wanted Signature, or is not lower in the Order, is turned
// down. It only has to end: propose() is called until it proposes nothing that is accepted.
#pragma once
#include "program/flatten.h"
#include "reduce/judge.h"
#include "repro_minify/program.h"

#include <functional>
#include <tuple>
#include <vector>

namespace repro_minify {

/// The total order in which a reduction only goes down: operators, nodes, outputs, inputs, inputs that are data rather
/// than a formula, elements of data, values that need autograd. Strict, so that two passes cannot undo each other for
/// ever.
using Order = std::tuple<int, int, int, int, int, int64_t, int>;
Order order_of(const Program &program);

struct PassContext {
  Judge &judge;
  /// The Program so far. Its inputs' values are concrete; recordings are made by those passes that need one.
  const Program &current;
  /// Accepts `candidate` when it is lower in the Order and fails; then `current` is it.
  const std::function<bool(const Program &candidate, const std::vector<Judge::LazyProgram> &likely_next)> &accept;
  /// Set by a pass that could not try everything it is for: the result is then not said to be 1-minimal.
  bool &incomplete;
};

struct ReductionPass {
  const char *name;
  const char *summary;
  /// Tries what it knows once, calling accept(); true if anything was accepted.
  bool (*run)(PassContext &context);
};

/// In the order in which they run.
const std::vector<ReductionPass> &reduction_passes();

/// Offers candidates in order until one is accepted; the following ones are judged ahead of time.
bool accept_first(PassContext &context, const std::vector<Judge::LazyProgram> &candidates);

bool cut_nodes(PassContext &context);    // cut_nodes.cpp
bool bypass_nodes(PassContext &context); // bypass.cpp
bool drop_outputs(PassContext &context); // outputs.cpp
bool merge_inputs(PassContext &context); // inputs.cpp
bool plain_values(PassContext &context); // plain_values.cpp

/// A copy whose graph can be edited.
Program copy_of(const Program &program);

} // namespace repro_minify
