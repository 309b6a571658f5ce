// Where a search looks first: what a failure says of its own place, before anything is asked. A hint, never a verdict.
#pragma once
#include "program/cut.h"
#include "reduce/passes/pass.h"

#include <vector>

namespace repro_minify {

/// The atoms of `all` that the failure points to. An exception: those its message names. A wrong output: the first
/// of them that is wrong where every value is returned, and operators near it that the backend rewrote. A wrong
/// gradient, or an output that is right once the others are returned: the rewritten operators, if they are few. Costs
/// one check at most.
IndexSet suspects(EngineContext &context, const Cutter &cutter, const IndexSet &all);

/// The check that it costs, known before: empty where there is none, or it depends on answers.
std::vector<LazyProgram> asked_by_suspects(const Signature &wanted, const Cutter &cutter);

/// Returns a weight for each atom, for SearchOptions::weights: it falls off with the distance from the nearest suspect.
std::vector<double> suspicion(const Cutter &cutter, const IndexSet &suspects, const IndexSet &all);

} // namespace repro_minify
