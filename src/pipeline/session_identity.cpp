#include "check/operators.h"
#include "pipeline/minify_job.h"
#include "program/operator_libraries.h"
#include "program/value_digest.h"
#include "reduce/journal.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/session.h"

#include <ATen/Version.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace repro_minify {
namespace {

/// A folder has no content of its own.
std::string file_of_identity(const Session &session) {
  const auto &conversion = session.options.conversion;
  std::error_code error;
  return conversion && std::filesystem::is_regular_file(conversion->given, error) ? conversion->given
                                                                                  : session.model.path;
}

} // namespace

Identity identity_of(const Session &session) {
  const MinifyOptions &options = session.options;
  Identity identity;
  identity.add("repro-minify", REPRO_MINIFY_VERSION);
  identity.add("LibTorch", libtorch_version());
  identity.add("the processor, to LibTorch,", at::get_cpu_capability());
  identity.add_file("the model's file", file_of_identity(session));
  identity.add("the method", session.model.method);
  if (session.options.conversion)
    identity.add("the graph", session.options.conversion->graph);
  for (size_t i = 0; i < session.inputs.values.size(); ++i)
    identity.add_content("input " + std::to_string(i), digest_of(session.inputs.values[i]));
  identity.add_all(session.test.identity());
  identity.add_all(identity_of(options.backend_options));
  identity.add("--repeat", options.repetition.runs);
  identity.add("--need", options.repetition.need);
  identity.add("--same-failure", to_string(options.same_failure));
  identity.add("--timeout", options.timeout_seconds);
  identity.add("--memory", options.memory_bytes);
  identity.add("--train", options.train);
  return identity;
}

// The words and refusals that the commands share for the verdict on the model itself: see session.h.

std::shared_ptr<Graph> graph_as_called(const Session &session) {
  try {
    return flatten_calls(session.model, session.inputs.values).graph;
  } catch (const std::exception &) {
    return session.model.module.get_method(session.model.method).graph();
  }
}

std::string eager_problem(const Session &session, const Verdict &verdict) {
  std::string text = session.shown_path() + ": eager itself failed: " + verdict.message;
  const auto unsteady = unsteady_operators(*graph_as_called(session), session.check.device, session.check.grad);
  if (!unsteady.empty())
    text += "; operators that need not give the same twice: " + to_string(unsteady);
  return text;
}

UserError cannot_flatten(const Session &session, const CannotFlatten &error) {
  std::string text = session.shown_path() + ": cannot be flattened: " + error.what() + "; " + advice_on_flattening;
  if (!session.backend->traits().needs_flat_graph)
    text += " (`repro-minify run` takes the model as it is)";
  return UserError(text);
}

void require_one_backend(const Session &session) {
  if (!session.others.empty())
    throw UserError("--backend: names " + session.backend->name() + " and " + session.others.front()->name() +
                    ", but only a reduction and `run` take several");
}

void require_checkable(const Session &session, const Verdict &verdict) {
  if (verdict.trouble == Verdict::Trouble::Bug)
    throw std::runtime_error(session.shown_path() + ": " + verdict.message);
  if (verdict.trouble == Verdict::Trouble::Memory)
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory),
                            session.shown_path() + ": " + verdict.message);
  if (verdict.outcome == Verdict::Outcome::Unresolved && !verdict.eager_failed)
    throw UserError(session.shown_path() + ": cannot be checked: " + verdict.message);
  if (verdict.no_gradient_left)
    throw UserError(session.shown_path() + ": --grad has nothing to compare: it leaves out " + verdict.left_out +
                    (session.backend->traits().gradients == Gradients::IfItHasAny
                         ? "; leave out --grad"
                         : ", and no input requires a gradient; give inputs that do, or leave out --grad"));
}

void warn_of_missing_reference(const Session &session, const Verdict &verdict) {
  if (session.check.mode == CheckMode::Accuracy && has_arbiter(session.check.compare.rule) &&
      !verdict.no_fp64_because.empty())
    session.options.listener.say(Severity::Warning,
                                 "no fp64 reference (" + verdict.no_fp64_because + "): compared with eager alone");
}

std::vector<std::pair<std::string, double>> PhaseClock::seconds() {
  const auto now = Clock::now();
  if (current_ < phases_.size())
    phases_[current_].second += std::chrono::duration<double>(now - since_).count();
  since_ = now;
  return phases_;
}

void PhaseClock::enter(const std::string &phase) {
  seconds();
  const auto found =
      std::find_if(phases_.begin(), phases_.end(), [&](const auto &entry) { return entry.first == phase; });
  current_ = static_cast<size_t>(found - phases_.begin());
  if (found == phases_.end())
    phases_.emplace_back(phase, 0.0);
  if (told_)
    told_(phase);
}

} // namespace repro_minify
