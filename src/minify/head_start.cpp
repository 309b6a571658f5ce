#include "minify/head_start.h"

#include "minify/reading_limits.h"
#include "reduce/passes/first_question.h"

#include <utility>

namespace repro_minify {
namespace {

/// The time limit while it is not known what is long for this model. A candidate is given ten times what the model
/// took, and asked again where it had less.
constexpr std::chrono::minutes long_enough{2};

/// True if a head start is worth it: not where processors or memory are short (how much of a device is free is not
/// known), or where something else is asked first.
bool is_worth_it(const Session &session) {
  const MinifyOptions &options = session.options;
  return session.backend->traits().compiles_for_seconds && session.oracle.empty() && options.jobs > 1 &&
         session.check.device.is_cpu() && session.check.mode == CheckMode::Accuracy && !session.check.grad &&
         options.repetition.runs == 1 && options.passes.only.empty() && options.passes.skip.empty() &&
         session.model.method == "forward";
}

Limits limits_until(const Session &session, const std::function<bool()> &is_over) {
  Limits limits = generous_limits();
  limits.memory_bytes = memory_limit(session.options);
  limits.interrupted = is_over;
  return limits;
}

/// With the Recording of what the reduction most likely begins with.
std::shared_ptr<const RecordedModel> record_all(const Session &session, const Limits &limits) {
  auto model = std::make_shared<RecordedModel>(record_model(session, limits));
  if (model->straight)
    model->of_straight = std::make_shared<const Recording>(session.recording_of(*model->straight, limits));
  return model;
}

void begin_check(Session &session, const Program &program) {
  Limits limits;
  limits.timeout = session.options.timeout_seconds > 0 ? limit_of(session.options.timeout_seconds) : long_enough;
  limits.allow_for_load = session.options.timeout_seconds <= 0;
  limits.memory_bytes = memory_limit(session.options);
  auto begun = std::make_shared<CheckBegun>(session.options.jobs);
  begun->hash = canonical_hash(program);
  begun->timeout = limits.timeout;
  begun->ticket = begun->pool.submit(session.test.job(std::make_shared<Program>(program)), limits);
  session.begun = std::move(begun);
}

} // namespace

void take_head_start(Session &session, const std::function<bool()> &is_over) {
  if (!is_worth_it(session))
    return;
  try {
    session.recorded = record_all(session, limits_until(session, is_over));
    const auto &recording = session.recorded->straight ? session.recorded->of_straight : session.recorded->recording;
    const auto question = first_question(recording);
    if (question && !is_over())
      begin_check(session, *question);
  } catch (const std::exception &) {
  } catch (const Interrupted &) {
  }
}

void drop_head_start_unless_wanted(Session &session, const Verdict &original) {
  if (original.outcome != Verdict::Outcome::Fail || !is_asked_first_question(original.signatures.front()))
    session.begun = nullptr;
}

} // namespace repro_minify
