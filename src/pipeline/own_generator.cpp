#include "pipeline/own_generator.h"

#include "program/surgery.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>
#include <exception>
#include <string>

namespace repro_minify {
namespace {

constexpr const char *entry = "fallback_random";

bool is_set_by_user(const BackendOptions &options) {
  return std::any_of(options.inductor_config.begin(), options.inductor_config.end(),
                     [](const std::string &text) { return text.starts_with(std::string(entry) + "="); });
}

bool draws(const Session &session) {
  try {
    return draws_random_numbers(*flatten_calls(session.model, session.inputs.values).graph);
  } catch (const std::exception &) { // what is called from it is not seen
    return draws_random_numbers(*session.model.module.get_method(session.model.method).graph());
  }
}

/// Values differ by the generator alone, and sizes may hang on values.
bool shows_more_than_values(const Verdict &verdict) {
  if (verdict.outcome != Verdict::Outcome::Fail || verdict.eager_failed)
    return false;
  const FailureKind kind = verdict.signatures.front().kind;
  return kind == FailureKind::Dtype || kind == FailureKind::Exception || kind == FailureKind::Crash;
}

} // namespace

std::optional<MinifyOptions> options_with_own_generator(const Session &session, const FailureRate &rate) {
  const MinifyOptions &options = session.options;
  const auto *settings = session.backend->parts().library_settings;
  if (!settings || rate.verdict.outcome != Verdict::Outcome::Pass || is_set_by_user(options.backend_options) ||
      !session.oracle.empty() || !draws(session))
    return std::nullopt;
  const std::string setting = std::string(entry) + "=false";
  const Verdict verdict = check(session.original(), settings->under({setting}), session.check, session.limits());
  options.listener.throw_if_interrupted();
  if (!shows_more_than_values(verdict))
    return std::nullopt;
  options.listener.say(Severity::Info, session.shown_path() +
                                           ": passes with the random numbers that eager draws; with those of "
                                           "TorchInductor (--inductor-config " +
                                           setting + ") it does not");
  MinifyOptions own = options;
  own.backend_options.inductor_config.push_back(setting);
  if (options.settings)
    own.settings = [given = options.settings, entries = own.backend_options.inductor_config](SettingsChanges changes) {
      changes["inductor-config"] = entries;
      return given(changes);
    };
  return own;
}

} // namespace repro_minify
