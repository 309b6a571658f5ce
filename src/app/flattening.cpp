#include "app/flattening.h"

#include "program/record.h"
#include "support/log.h"

namespace repro_minify {
namespace {

Verdict check_program(const Session &session, const Program &program) {
  return check(subject_of(std::make_shared<Program>(program)), session.backend, session.check, session.limits());
}

} // namespace

std::optional<Flattened> flatten_model(Session &session, const Signature &wanted) {
  const Recording recording =
      record(flatten_calls(session.model, session.inputs.values), session.record_options(), session.limits());
  const Program &inlined = recording.program;
  Flattened result{inlined, {}, "calls inlined", std::nullopt, size_of(inlined)};
  if (has_control_flow(inlined)) {
    try {
      const Program straight = follow_decisions(inlined, recording.decisions);
      const Verdict verdict = check_program(session, straight);
      if (shows(verdict, wanted)) {
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
  result.verdict = check_program(session, inlined);
  if (!shows(result.verdict, wanted)) {
    log::debug("once inlined: " + result.verdict.message +
               (result.verdict.signatures.empty() ? "" : " (" + to_string(result.verdict.signatures.front()) + ")"));
    return std::nullopt;
  }
  return result;
}

} // namespace repro_minify
