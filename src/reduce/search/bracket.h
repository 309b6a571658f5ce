// Binary search for the shortest failing prefix of an order, in sets that get small early.
#pragma once
#include "reduce/search/node_order.h"
#include "reduce/search/questioner.h"

#include <cstddef>

namespace repro_minify {

/// A prefix of length `passing` is believed to pass, one of length `failing` was seen failing.
struct Bracket {
  NodeOrder order;
  std::size_t passing;
  std::size_t failing;
};

/// Halves the bracket until it is closed; afterwards the last node of the failing prefix is an anchor.
///
/// Every few steps the nodes still in question are tried without most of what comes before them. That costs one
/// question and tells nothing new about the answer, but where it works each further question is about a small program
/// instead of about half of the whole one.
void close(Bracket &bracket, const Dataflow &dataflow, Questioner &questioner);

} // namespace repro_minify
