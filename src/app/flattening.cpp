#include "app/flattening.h"

#include "program/record.h"
#include "support/log.h"

namespace repro_minify {
namespace {

/// A failure that does not always show is given as many runs as it needs to.
Verdict check_program(const Session &session, const Program &program, const Signature &wanted) {
  const Subject subject = subject_of(std::make_shared<Program>(program));
  return check_repeatedly([&] { return check(subject, session.backend, session.check, session.limits()); },
                          [&](const Verdict &verdict) { return shows(verdict, wanted, same_failure(session.options)); },
                          repetition(session.options));
}

} // namespace

std::optional<Flattened> flatten_model(Session &session, const Signature &wanted) {
  const SameFailure how = same_failure(session.options);
  const Recording recording =
      record(flatten_calls(session.model, session.inputs.values), session.settings(), session.limits());
  const Program &inlined = recording.program;
  Flattened result{inlined, {}, "calls inlined", std::nullopt, size_of(inlined)};
  if (has_control_flow(inlined)) {
    try {
      const Program straight = follow_decisions(inlined, recording.decisions);
      const Verdict verdict = check_program(session, straight, wanted);
      if (shows(verdict, wanted, how)) {
        result.program = straight;
        result.verdict = verdict;
        result.level = "calls inlined, control flow replaced by the path that was taken";
        return result;
      }
      result.hidden_by = "replacing control flow by the path that was taken";
    } catch (const CannotFlatten &error) {
      log::debug(error.what());
    }
  }
  result.verdict = check_program(session, inlined, wanted);
  if (!shows(result.verdict, wanted, how)) {
    log::debug("once inlined: " + result.verdict.message +
               (result.verdict.signatures.empty() ? "" : " (" + to_string(result.verdict.signatures.front()) + ")"));
    return std::nullopt;
  }
  return result;
}

} // namespace repro_minify
