// The most flattening that keeps the failure: the path that was taken in the place of control flow, else calls inlined.
#include "repro_minify/session.h"

#include "program/tracer.h"

namespace repro_minify {
namespace {

bool leaf_fails(const std::vector<LeafReport> &leaves, size_t index) {
  return index < leaves.size() && !leaves[index].same;
}

/// A model that fails in two outputs may lose one failure to flattening and keep the other: the first output (or
/// gradient) that failed has to fail still. Flattening keeps their order.
bool in_the_same_place(const Verdict &original, const Verdict &flat) {
  const std::string &where = original.signatures.front().where;
  if (where != "output" && where != "gradient")
    return true;
  const auto &before = where == "output" ? original.outputs : original.gradients;
  const auto &after = where == "output" ? flat.outputs : flat.gradients;
  if (before.size() != after.size())
    return true; // one returns what the other packs: nothing to go by
  for (size_t i = 0; i < before.size(); ++i)
    if (!before[i].same)
      return leaf_fails(after, i);
  return true;
}

/// True if the check of the original was of this very program: that of a backend that takes flat graphs only is.
bool is_what_was_checked(const Session &session, const Program &inlined) {
  return session.oracle.empty() && session.backend->traits().needs_flat_graph && session.options.repetition.runs == 1 &&
         !has_control_flow(inlined);
}

/// Returns the inlined model with inputs as the check will see them: without --grad none requires a gradient, and a cut
/// that removes nothing is the same Program. True if it was traced.
std::pair<Program, bool> inlined_model(const Session &session, const Limits &limits) {
  auto model = flatten_or_trace(session.model, session.inputs.values, session.settings(), limits);
  if (!session.settings().grad)
    for (auto &input : model.first.inputs)
      if (input.value.isTensor() && input.value.toTensor().requires_grad())
        input.value = input.value.toTensor().detach();
  return model;
}

/// A model as it is reduced, and what its values are in eager mode.
struct RecordedModel {
  std::string level;                          ///< how its calls were taken out, for a person
  std::shared_ptr<const Recording> recording; ///< of the model with its calls inlined
  /// The path that was taken, where there is control flow; nothing where it cannot be followed: `not_straight` says
  /// why.
  std::optional<Program> straight;
  std::string not_straight;
};

void follow_path(RecordedModel &model) {
  const Recording &recording = *model.recording;
  if (!has_control_flow(recording.program))
    return;
  try {
    model.straight = follow_decisions(recording.program, recording.decisions);
  } catch (const CannotFlatten &error) {
    model.not_straight = error.what();
  }
}

/// Flattens and records. Throws CannotFlatten, std::runtime_error for what eager cannot run, Interrupted.
RecordedModel record_model(Session &session) {
  const auto [program, traced] = inlined_model(session, session.limits());
  RecordedModel model;
  model.level =
      traced ? "the operators of one run, without the objects, tasks and calls that led to them" : "calls inlined";
  session.phases.enter("record");
  model.recording = std::make_shared<const Recording>(session.recording_of(program, session.limits()));
  follow_path(model);
  return model;
}

/// True if `verdict`, that of the flattened program, is as wrong as the model's, and (if Strict) in the same place.
bool still_fails(const Session &session, const Verdict &original, const Verdict &verdict) {
  const SameFailure how = session.options.same_failure;
  return shows(verdict, original.signatures.front(), how) &&
         (how != SameFailure::Strict || in_the_same_place(original, verdict));
}

/// Asks about the model in another form. Throws UserError where there is no answer.
Verdict answer_about(Session &session, const Program &program, const Signature &wanted) {
  Verdict verdict = session.ask(program, wanted);
  if (verdict.no_answer)
    throw UserError(session.shown_path() + ": cannot be checked once its calls are inlined: " + verdict.message);
  return verdict;
}

} // namespace

std::optional<Flattened> flatten_model(Session &session, const Verdict &original) {
  const Signature &wanted = original.signatures.front();
  const RecordedModel model = record_model(session);
  session.phases.enter("flat check");
  const Program &inlined = model.recording->program;
  Flattened result{inlined, {}, model.level, std::nullopt, size_of(inlined), model.recording};
  if (model.straight) {
    const Verdict verdict = answer_about(session, *model.straight, wanted);
    if (still_fails(session, original, verdict)) {
      result.program = *model.straight;
      result.recording = nullptr; // it is made where it is needed
      result.verdict = verdict;
      result.level = "calls inlined, control flow replaced by the path that was taken";
      return result;
    }
    result.hidden_by = "replacing control flow by the path that was taken";
  } else if (!model.not_straight.empty()) {
    session.options.listener.say(Severity::Detail, model.not_straight);
  }
  if (is_what_was_checked(session, inlined)) {
    result.verdict = original;
    return result;
  }
  result.verdict = answer_about(session, inlined, wanted);
  if (!shows(result.verdict, wanted, session.options.same_failure)) {
    session.options.listener.say(
        Severity::Detail,
        "once inlined: " + result.verdict.message +
            (result.verdict.signatures.empty() ? "" : " (" + to_string(result.verdict.signatures.front()) + ")"));
    return std::nullopt;
  }
  return result;
}

Program flat_program(Session &session, const Verdict &original) {
  try {
    if (original.outcome == Verdict::Outcome::Fail) {
      if (auto flattened = flatten_model(session, original))
        return flattened->program;
      throw UserError(session.shown_path() + ": fails as it is, but no longer once its calls are inlined");
    }
    const Recording recording = session.recording_of(
        flatten_or_trace(session.model, session.inputs.values, session.settings(), session.limits()).first,
        session.limits());
    return has_control_flow(recording.program) ? follow_decisions(recording.program, recording.decisions)
                                               : recording.program;
  } catch (const CannotFlatten &error) {
    throw cannot_flatten(session, error);
  }
}

} // namespace repro_minify
