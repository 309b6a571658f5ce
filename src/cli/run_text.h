// One check, for people and for scripts.
#pragma once

#include "repro_minify/nature.h"
#include "repro_minify/session.h"

#include <optional>
#include <string>

namespace repro_minify {

/// The facts that `run` finds out beside the Verdict.
struct RunFacts {
  std::optional<Timing> timing;
  std::optional<bool> reads_unwritten; ///< reads_unwritten_memory; nothing: not asked, or not known
  std::optional<Nature> nature;        ///< bug or rounding; nothing where the failure is no difference of values
};

/// Measures what is worth knowing of this Verdict: nothing where a side did not run to its end, and no times without
/// `timing`.
RunFacts run_facts(const Session &session, const FailureRate &rate, bool timing);

/// Returns the result for people, with a table of numbers. `is_one_of_several`: other backends are asked too, and what
/// is alike would be repeated under each.
std::string run_text(const FailureRate &rate, const RunFacts &facts, const Session &session, bool is_one_of_several);
/// The same for scripts.
std::string run_json(const FailureRate &rate, const RunFacts &facts, const Session &session);

} // namespace repro_minify
