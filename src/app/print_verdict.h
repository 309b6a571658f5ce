// One Verdict, for people and for scripts.
#pragma once
#include "repro_minify/session.h"

#include <optional>
#include <string>

namespace repro_minify {

/// What `run` finds out beside the Verdict.
struct RunFacts {
  std::optional<Timing> timing;
  std::optional<bool> reads_unwritten; ///< reads_unwritten_memory; nothing: not asked, or not known
};

/// Prints results for people on standard output, one table.
void print_verdict(const FailureRate &rate, const RunFacts &facts, const Session &session);
/// The same for scripts.
std::string verdict_json(const FailureRate &rate, const RunFacts &facts, const Session &session);

} // namespace repro_minify
