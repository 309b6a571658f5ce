// One check, for people and for scripts.
#include "cli/run_text.h"

#include "check/verdict_text.h"
#include "core/json.h"
#include "core/number_text.h"
#include "core/text.h"
#include "program/values.h"
#include "repro/reported.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

namespace repro_minify {
namespace {

constexpr int timed_calls = 9;

/// Times are worth having where both sides run to the end.
bool runs_to_the_end(const Verdict &verdict) {
  if (verdict.outcome == Verdict::Outcome::Unresolved)
    return false;
  for (const auto &signature : verdict.signatures)
    if (!is_comparison(signature.kind))
      return false;
  return true;
}

constexpr const char *outcome_words[] = {"PASS", "FAIL", "UNRESOLVED"};

std::string counts(int64_t nan, int64_t inf) {
  return nan < 0 ? "-" : std::to_string(nan) + "/" + std::to_string(inf);
}

std::string worst_position(const LeafReport &leaf) {
  if (leaf.worst_index < 0 || !leaf.ref_form)
    return "-";
  return position_text(leaf.worst_index, leaf.ref_form->sizes);
}

/// "DIFFERS"; where no element shows it, or it is one whole number, with the two: "DIFFERS: 3 expected, 4 found".
std::string verdict_of(const LeafReport &leaf) {
  if (leaf.same)
    return "same";
  const bool is_one_number = leaf.ref_form && leaf.ref_form->sizes.empty() && std::isnan(leaf.ref_error);
  const bool says_more = (leaf.worst_index < 0 || is_one_number) && !leaf.message.empty();
  return says_more ? "DIFFERS: " + clean(leaf.message) : "DIFFERS";
}

void add_rows(std::vector<std::vector<std::string>> &rows, const std::string &what,
              const std::vector<LeafReport> &leaves, bool only_differing) {
  for (const auto &leaf : leaves)
    if (!only_differing || !leaf.same)
      rows.push_back({clean(what + leaf.path), clean(leaf.ref_type),
                      leaf.res_type == leaf.ref_type ? "same" : clean(leaf.res_type), rounded_text(leaf.ref_error),
                      rounded_text(leaf.res_error), rounded_text(leaf.multiplier), rounded_text(leaf.max_abs_error),
                      worst_position(leaf), counts(leaf.ref_nan, leaf.ref_inf), counts(leaf.res_nan, leaf.res_inf),
                      verdict_of(leaf)});
}

/// A flaky failure is not PASS and not quite FAIL.
std::string rate_text(const FailureRate &rate) {
  return "fails in " + std::to_string(rate.failed) + " of " + std::to_string(rate.runs) + " runs";
}

const char *outcome_word(const FailureRate &rate, const Session &session) {
  if (rate.verdict.outcome == Verdict::Outcome::Fail && rate.failed < session.options.repetition.need)
    return outcome_words[static_cast<int>(Verdict::Outcome::Pass)];
  return outcome_words[static_cast<int>(rate.verdict.outcome)];
}

/// A backend that compiles the whole program rewrites all of it: the first few will do.
std::string few_of(const std::vector<std::string> &names) {
  constexpr size_t few = 6;
  std::string text;
  for (size_t i = 0; i < std::min(few, names.size()); ++i)
    text += (i ? ", " : "") + clean(names[i]);
  return names.size() > few ? text + " and " + std::to_string(names.size() - few) + " more" : text;
}

/// A value that the rule accepts may be wrong all the same.
void write_let_pass(std::ostream &out, const Verdict &verdict) {
  const LetPass passed = let_pass(verdict);
  if (passed.text.empty())
    return;
  out << "  " << clean(passed.text);
  if (verdict.outcome == Verdict::Outcome::Pass)
    out << " (" << passed.remedy << " takes that for a failure)";
  out << '\n';
}

void write_timing(std::ostream &out, const Timing &timing) {
  out << "\neager " << rounded_text(timing.eager_seconds * 1e3) << " ms, optimised "
      << rounded_text(timing.optimised_seconds * 1e3) << " ms (median of " << timing.calls
      << " warm calls), compiling and first call " << rounded_text(timing.compile_seconds * 1e3) << " ms\n";
}

void write_settings(std::ostream &out, const Verdict &verdict, const Session &session) {
  const RunSettings settings = session.settings();
  out << "\nfp64 reference "
      << (session.check.mode == CheckMode::Run ? "not wanted"
          : verdict.has_fp64_reference         ? "yes"
          : verdict.no_fp64_because.empty()    ? "not needed"
                                               : "no: " + clean(verdict.no_fp64_because))
      << "; " << settings.device << ", seed " << settings.seed << ", autocast "
      << (settings.autocast ? dtype_name(settings.autocast_dtype) : "off") << ", deterministic "
      << to_string(settings.determinism) << '\n';
}

/// True if it fails where TorchInductor rounds at each cast too; nothing for a backend that has no such setting.
std::optional<bool> fails_with_rounded_casts(const Session &session, const Verdict &verdict) {
  const auto *settings = session.backend->parts().library_settings;
  if (!settings)
    return std::nullopt;
  try {
    const auto rounding = settings->under({"emulate_precision_casts=true"});
    const Verdict with_casts = check(session.original(), rounding, session.check, session.limits());
    if (with_casts.outcome == Verdict::Outcome::Unresolved)
      return std::nullopt;
    return shows(with_casts, verdict.signatures.front(), SameFailure::Kind);
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

/// Looks for what else the difference could be than a bug.
void find_nature(const Session &session, const Verdict &verdict, RunFacts &facts) {
  const Signature &failure = verdict.signatures.front();
  Nature::Facts known{.verdict = verdict, .failure = failure, .movement = {}, .reads_unwritten = facts.reads_unwritten};
  if (!nature_of(known))
    return;
  known.movement =
      movement_of_eager(session.original(), session.backend, session.check, verdict, failure, session.limits());
  known.fails_with_rounded_casts = fails_with_rounded_casts(session, verdict);
  known.is_command = session.backend->name().starts_with("command:");
  facts.nature = nature_of(known);
}

json timing_json(const std::optional<Timing> &timing) {
  if (!timing)
    return nullptr;
  return {{"calls", timing->calls},
          {"eager_seconds", timing->eager_seconds},
          {"optimised_seconds", timing->optimised_seconds},
          {"compile_seconds", timing->compile_seconds}};
}

json settings_json(const RunSettings &settings) {
  return {{"device", settings.device.str()},
          {"seed", settings.seed},
          {"threads", settings.threads},
          {"autocast", settings.autocast ? json(dtype_name(settings.autocast_dtype)) : nullptr},
          {"deterministic", to_string(settings.determinism)},
          {"tf32", settings.tf32}};
}

} // namespace

RunFacts run_facts(const Session &session, const FailureRate &rate, bool timing) {
  RunFacts facts;
  if (!runs_to_the_end(rate.verdict))
    return facts;
  if (timing)
    facts.timing = measure_timing(session.original(), session.backend, session.check, timed_calls, session.limits());
  if (rate.verdict.outcome == Verdict::Outcome::Fail) {
    facts.reads_unwritten =
        reads_unwritten_memory(session.original(), session.backend, session.check, session.limits());
    find_nature(session, rate.verdict, facts);
  }
  return facts;
}

std::string run_text(const FailureRate &rate, const RunFacts &facts, const Session &session, bool is_one_of_several) {
  std::ostringstream out;
  const Verdict &verdict = rate.verdict;
  out << outcome_word(rate, session) << "  " << clean(session.shown_path()) << "  backend "
      << clean(session.backend->name()) << (session.check.grad ? "  with gradients" : "") << '\n';
  for (const auto &signature : verdict.signatures)
    out << "  " << clean(to_string(signature)) << '\n';
  if (!verdict.message.empty())
    out << "  " << clean(verdict.message) << '\n';
  if (!verdict.left_out.empty())
    out << "  not compared: " << clean(verdict.left_out) << '\n';
  if (rate.runs > 1)
    out << "  " << rate_text(rate) << '\n';
  if (verdict.failing_call > 1)
    out << "  first wrong on call " << verdict.failing_call << '\n';
  if (verdict.outcome == Verdict::Outcome::Fail && !verdict.rewritten.empty())
    out << "  operators that the backend rewrote: " << few_of(verdict.rewritten) << '\n';
  write_let_pass(out, verdict);
  if (facts.nature)
    out << "  " << to_string(facts.nature->kind) << ": " << facts.nature->why << '\n';
  if (facts.reads_unwritten.value_or(false))
    out << "  it reads uninitialised memory: what it returns depends on what lies there\n";
  if (verdict.coverage) // what the backend ran as it was is at times the larger part of the program
    out << "  " << clean(coverage_text(*verdict.coverage)) << '\n';
  std::vector<std::vector<std::string>> rows = {{"value", "eager", "optimised", "eager RMSE", "opt. RMSE", "allowed x",
                                                 "largest error", "at", "eager NaN/Inf", "opt. NaN/Inf", "verdict"}};
  add_rows(rows, "output", verdict.outputs, is_one_of_several);
  add_rows(rows, "gradient of ", verdict.gradients, is_one_of_several);
  add_rows(rows, "", verdict.state, is_one_of_several);
  if (rows.size() > 1) {
    out << '\n';
    out << table_text(rows);
  }
  if (facts.timing)
    write_timing(out, *facts.timing);
  if (!is_one_of_several)
    write_settings(out, verdict, session);
  return out.str();
}

std::string run_json(const FailureRate &rate, const RunFacts &facts, const Session &session) {
  const Verdict &verdict = rate.verdict;
  json whole = json::parse(to_json(verdict));
  const bool fails = verdict.outcome == Verdict::Outcome::Fail;
  const std::string nearer = nearer_to_fp64(verdict);
  const json result = {
      {"model", session.shown_path()},
      {"converted", session.options.conversion ? json(to_string(*session.options.conversion)) : nullptr},
      {"backend", session.backend->name()},
      {"grad", session.check.grad},
      {"check", session.check.mode == CheckMode::Run ? "run" : "accuracy"},
      {"verdict",
       {{"outcome", whole["outcome"]},
        {"kind", fails ? json(to_string(verdict.signatures.front().kind)) : json(nullptr)},
        {"where", fails ? verdict.signatures.front().where : ""},
        {"message", verdict.message},
        {"left_out", verdict.left_out},
        {"nearer_to_fp64", nearer.empty() ? json(nullptr) : json(nearer)},
        {"lets_whole_numbers_pass", lets_whole_numbers_pass(verdict)},
        {"sum_tolerance", if_known(sum_tolerance(verdict))},
        {"nature", nature_json(facts.nature)},
        {"reads_unwritten_memory", if_known(facts.reads_unwritten)}}},
      {"rate", {{"failed", rate.failed}, {"runs", rate.runs}, {"need", session.options.repetition.need}}},
      {"timing", timing_json(facts.timing)},
      {"settings", settings_json(session.settings())},
      {"details", whole}};
  return result.dump(2, ' ', true, json::error_handler_t::replace);
}

} // namespace repro_minify
