#include "check/operators.h"
#include "check/verdict_text.h"
#include "core/text.h"
#include "pipeline/convert.h"
#include "pipeline/minify_job.h"
#include "pipeline/open_model.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>

namespace repro_minify {
namespace {

std::string let_pass_note(const Verdict &verdict) {
  const LetPass passed = let_pass(verdict);
  return passed.text.empty() ? "" : "; " + passed.text + ": " + passed.remedy + " takes that for a failure";
}

/// Operators that the backend left to eager's own code are not shown to be right.
std::string coverage_note(const Verdict &verdict) {
  return !verdict.coverage || verdict.coverage->not_compiled.empty() ? "" : "; " + coverage_text(*verdict.coverage);
}

std::string why_it_passes(const Session &session, const FailureRate &rate) {
  if (rate.failed > 0)
    return "in " + std::to_string(rate.failed) + " of " + std::to_string(rate.runs) + " runs; --need says " +
           std::to_string(session.options.repetition.need);
  return "called " + counted(session.backend->traits().needs_several_calls ? session.check.calls : 1, "time") +
         (rate.runs > 1 ? " in each of " + std::to_string(rate.runs) + " runs" : "") +
         (session.check.mode == CheckMode::Run ? ", and raised nothing" : ", each time the same as eager") +
         let_pass_note(rate.verdict) + coverage_note(rate.verdict);
}

/// A conversion to TorchScript may lose what fails under torch.compile: what was converted is asked itself.
std::string original_note(const Session &session) {
  const MinifyOptions &options = session.options;
  if (!options.conversion || session.backend->name() != "inductor")
    return "";
  options.listener.say(Severity::Info, session.shown_path() + ": passes; it is run once under torch.compile itself");
  const ModelKind kind = recognise(options.conversion->given, reading_limits(options));
  const std::string fails =
      failure_of_original(*options.conversion, convert_options(options, kind), reading_limits(options));
  return fails.empty() ? ""
                       : "; but run under torch.compile as it was given, it fails: " + fails +
                             "; --inductor-config frontend=dynamo may show it";
}

/// True if the backend left every operator to eager's own code, or there is none, so that the model was not tested at
/// all.
bool nothing_was_compiled(const Verdict &verdict) {
  return verdict.coverage && verdict.coverage->compiled == 0;
}

constexpr const char *entry = "fallback_random";

bool is_set_by_user(const BackendOptions &options) {
  return std::any_of(options.inductor_config.begin(), options.inductor_config.end(),
                     [](const std::string &text) { return text.starts_with(std::string(entry) + "="); });
}

/// Values differ by the generator alone, and sizes may hang on values.
bool shows_more_than_values(const Verdict &verdict) {
  if (verdict.outcome != Verdict::Outcome::Fail || verdict.eager_failed)
    return false;
  const FailureKind kind = verdict.signatures.front().kind;
  return kind == FailureKind::Dtype || kind == FailureKind::Exception || kind == FailureKind::Crash;
}

} // namespace

Result ended(Result::Ending ending, std::string why) {
  Result result;
  result.ending = ending;
  result.why = std::move(why);
  return result;
}

std::optional<Result> nothing_to_reduce(const Session &session, const FailureRate &rate) {
  require_checkable(session, rate.verdict);
  const std::string model = session.shown_path();
  if (rate.verdict.eager_failed)
    return ended(Result::Ending::EagerNotReproducible, eager_problem(session, rate.verdict));
  if (rate.failed >= session.options.repetition.need)
    return std::nullopt;
  if (!session.oracle.empty())
    return ended(Result::Ending::DoesNotFail,
                 model + ": is not interesting to " + session.options.oracle + " (" + rate.verdict.message + ")");
  if (rate.failed == 0 && nothing_was_compiled(rate.verdict))
    return ended(Result::Ending::DoesNotFail, model + ": nothing of it is compiled by " + session.backend->name() +
                                                  ", so that there is nothing to compare (" +
                                                  coverage_text(*rate.verdict.coverage) + ")");
  return ended(Result::Ending::DoesNotFail, model + ": does not fail under " + session.backend->name() + " (" +
                                                why_it_passes(session, rate) + ")" + original_note(session));
}

std::optional<Result> oracle_is_unsure(Session &session, const FailureRate &rate) {
  const MinifyOptions &options = session.options;
  if (session.oracle.empty())
    return std::nullopt;
  Program empty;
  empty.graph = std::make_shared<Graph>();
  const Signature &wanted = rate.verdict.signatures.front();
  if (shows(session.ask(empty, wanted), wanted))
    throw UserError("--oracle " + options.oracle +
                    ": finds an empty program interesting too, so it accepts everything; exit with 0 only for what "
                    "still shows the problem");
  options.listener.throw_if_interrupted();
  if (options.repetition.runs > 1)
    return std::nullopt;
  const Verdict again = session.answer_to(ask_oracle(session.oracle, session.model.path), session.limits());
  if (shows(again, wanted))
    return std::nullopt;
  return ended(Result::Ending::EagerNotReproducible, "--oracle " + options.oracle + ": changes its mind about " +
                                                         session.shown_path() + " (" + again.message +
                                                         "); for one that is not always sure give --repeat N --need M");
}

std::optional<MinifyOptions> options_with_own_generator(const Session &session, const FailureRate &rate) {
  const MinifyOptions &options = session.options;
  const auto *settings = session.backend->parts().library_settings;
  if (!settings || rate.verdict.outcome != Verdict::Outcome::Pass || is_set_by_user(options.backend_options) ||
      !session.oracle.empty() || !may_draw(*graph_as_called(session)))
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
