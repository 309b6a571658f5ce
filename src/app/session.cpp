#include "app/session.h"

#include "program/archive.h"
#include "program/compute.h"
#include "support/log.h"

#include <algorithm>

namespace repro_minify {
namespace {

/// CUDA is first touched in a child, this question included.
void require_usable(const std::string &name, c10::Device device) {
  if (device.is_cpu())
    return;
  const auto answer = compute_in_child([&](Child &) -> c10::IValue { return why_unusable(device); }, generous_limits());
  if (!answer.toStringRef().empty())
    throw UserError("--device " + name + ": " + answer.toStringRef());
}

CheckOptions session_options(const Options &options) {
  CheckOptions check = check_options(options);
  // Where luck has a say it must not pass a random program off as a reproducible one.
  if (options.repeat > 1)
    check.eager_calls = std::max(16, 2 * options.repeat);
  require_usable(options.device, check.device);
  return check;
}

} // namespace

Session::Session(const Options &given)
    : options(given), backend(make_backend(given.backend)), check(session_options(given)),
      model(load_model(given.model, given.method, given.seed, given.train, check.device)) {
  if (options.train && backend->needs_eval())
    throw UserError("--train: " + backend->name() + " takes models in eval mode only");
  inputs = load_inputs(
      model,
      {.specs = given.input_specs, .inputs_path = given.inputs, .seed = given.seed, .requires_grad = given.grad});
}

Subject Session::original() {
  if (model.method == "forward" && !backend->needs_flat_graph())
    return [archive = Archive{model.path, inputs.values, options.seed, options.train}](const InstantiateOptions &how) {
      return instantiate(archive, how);
    };
  return subject_of(std::make_shared<Program>(flatten_calls(model, inputs.values)));
}

FailureRate Session::check_original(const std::function<bool()> &interrupted) {
  Limits limits;
  // Nothing is known yet of how long a run takes; a hang has to end some time.
  limits.timeout = std::chrono::milliseconds(
      options.timeout_seconds > 0 ? static_cast<int64_t>(options.timeout_seconds * 1000) : 120000);
  limits.memory_bytes = options.memory_bytes;
  const Subject subject = original();
  FailureRate rate;
  while (rate.runs < options.repeat && !(rate.runs > 0 && interrupted && interrupted())) {
    const Verdict verdict = repro_minify::check(subject, backend, check, limits);
    original_seconds_ = std::max(original_seconds_, verdict.wall_seconds);
    ++rate.runs;
    if (verdict.outcome == Verdict::Outcome::Unresolved) {
      rate.verdict = verdict;
      return rate;
    }
    if (verdict.outcome == Verdict::Outcome::Fail && rate.failed == 0) {
      rate.verdict = verdict;
      rate.failed = 1;
    } else if (rate.failed > 0) {
      rate.failed += shows(verdict, rate.verdict.signatures.front(), same_failure(options));
    } else {
      rate.verdict = verdict;
    }
  }
  return rate;
}

std::string Session::eager_suspects() const {
  Program program;
  try {
    program = flatten_calls(model, inputs.values);
  } catch (const std::exception &) {
    program.graph = model.module.get_method(model.method).graph(); // what is called from it is not seen
  }
  return to_string(suspects(*program.graph, check.device, check.grad));
}

Limits Session::limits() const {
  Limits limits;
  const double seconds = options.timeout_seconds > 0 ? options.timeout_seconds : std::max(10.0, 10 * original_seconds_);
  limits.timeout = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  limits.memory_bytes = options.memory_bytes;
  return limits;
}

RunSettings Session::settings() const {
  return run_settings(*backend, check);
}

std::string eager_problem(const Session &session, const Verdict &verdict) {
  std::string text = session.options.model + ": eager itself failed: " + verdict.message;
  if (const auto named = session.eager_suspects(); !named.empty())
    text += "; operators that need not give the same twice: " + named;
  return text;
}

void require_checkable(const Session &session, const Verdict &verdict) {
  if (verdict.outcome == Verdict::Outcome::Unresolved && !verdict.eager_failed)
    throw UserError(session.options.model + ": cannot be checked: " + verdict.message);
}

void warn_of_missing_reference(const Session &session, const Verdict &verdict) {
  if (session.check.mode == CheckMode::Accuracy && !verdict.no_fp64_because.empty())
    log::warning("no fp64 reference (" + verdict.no_fp64_because + "): compared with eager alone");
}

} // namespace repro_minify
