#include "check/eager_side.h"

#include "check/kept_runs.h"
#include "check/unresolved.h"
#include "core/no_answer.h"
#include "program/compute.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace repro_minify {
namespace {

/// Returns the options for comparing eager with itself: a NaN twice is no difference, whatever the rule says of it.
CompareOptions reproducibility(CompareOptions options) {
  options.equal_nan = true;
  return options;
}

/// True if two eager runs give the same once uninitialised memory holds the same in both.
bool unwritten_memory_is_to_blame(const CheckContext &context) {
  auto once = context.run_eager(1), again = context.run_eager(1);
  Verdict comparison;
  return context.compare(once[0], again[0], nullptr, reproducibility(context.options.compare), comparison);
}

/// Why a result differs even from itself, as one whose kind cannot be compared does; empty where it does not.
std::string why_incomparable(const CheckContext &context, const Observed &run) {
  Observed one = run, other = run;
  Verdict comparison;
  return context.compare(one, other, nullptr, reproducibility(context.options.compare), comparison)
             ? ""
             : worst_message(comparison);
}

Verdict eager_differs(const CheckContext &context, const Observed &run, const Verdict &comparison) {
  if (const std::string why = why_incomparable(context, run); !why.empty())
    return unresolved("what it returns cannot be compared with itself: " + why);
  const bool blame = unwritten_memory_is_to_blame(context);
  Verdict verdict =
      unresolved("two eager runs differ" + std::string(blame ? ", since it reads uninitialised memory: " : ": ") +
                 worst_message(comparison));
  verdict.eager_failed = true;
  return verdict;
}

/// The eager results to compare each call with: one where every call gives the same, else one for each call. Sets the
/// verdict when eager is not reproducible.
std::vector<Observed> eager_results(const CheckContext &context, Verdict &verdict) {
  const CheckOptions &options = context.options;
  if (options.mode == CheckMode::Run)
    return context.run_eager(1);
  auto first = context.run_eager(2);
  Verdict comparison;
  CompareOptions everything =
      reproducibility(options.compare); // a counter is state, whether or not it is looked at afterwards
  everything.ignore_non_fp = false;
  if (same_bits(first[0], first[1]) || context.compare(first[0], first[1], nullptr, everything, comparison)) {
    first.pop_back();
    return first;
  }
  // The program keeps state, or is not reproducible: a fresh instance tells which.
  auto again = context.run_eager(std::max(2, options.calls), nullptr, Fill::Other);
  for (size_t call = 0; call < first.size(); ++call)
    if (!context.compare(first[call], again[call], nullptr, reproducibility(options.compare), comparison)) {
      verdict = eager_differs(context, first[call], comparison);
      break;
    }
  return again;
}

/// The Verdict on what eager has thrown. Call only inside a catch block.
Verdict raised_by_eager(const CheckContext &context) {
  if (const auto verdict = not_of_the_program(context.backend, context.options.device))
    return *verdict;
  Verdict verdict = unresolved("eager itself raises: " + first_sentence(current_message()));
  verdict.eager_raises = true;
  return verdict;
}

/// Runs eager. What it does wrong, as a Verdict; else nothing, and `eager` is what the calls are compared with.
std::optional<Verdict> trouble_of_eager(const CheckContext &context, std::vector<Observed> &eager) {
  Verdict verdict;
  try {
    eager = eager_results(context, verdict);
  } catch (...) {
    return raised_by_eager(context);
  }
  return verdict.message.empty() ? std::nullopt : std::optional(verdict);
}

CheckContext looking_at_everything(CheckContext context) {
  context.everything = true;
  return context;
}

} // namespace

EagerSide::EagerSide(const CheckContext &context, std::string kept)
    : context_(context), observer_(kept.empty() ? context : looking_at_everything(context)), kept_(std::move(kept)) {}

std::optional<Verdict> EagerSide::run() {
  if (kept_.empty())
    return run_as(context_);
  if (auto runs = load_runs(kept_)) {
    calls = std::move(runs->calls);
    took = std::chrono::duration<double>(runs->seconds);
  } else if (auto trouble = run_as(observer_)) {
    return looks_at_less() ? run_alone() : trouble;
  } else {
    keep_runs(kept_, {calls, took.count(), ""});
  }
  if (!looks_at_less())
    return std::nullopt;
  // The calls differ, but perhaps only in values that this check does not look at.
  if (calls.size() > 1)
    return run_alone();
  all_ = calls;
  for (Observed &call : calls)
    call = narrowed(std::move(call), context_.run_options());
  return std::nullopt;
}

std::optional<Verdict> EagerSide::run_as(const CheckContext &context) {
  const auto begin = std::chrono::steady_clock::now();
  auto trouble = trouble_of_eager(context, calls);
  took = std::chrono::steady_clock::now() - begin;
  return trouble;
}

std::optional<Verdict> EagerSide::run_alone() {
  kept_.clear();
  observer_.everything = false;
  return run_as(context_);
}

bool EagerSide::looks_at_less() const {
  const RunOptions some = context_.run_options(), all = observer_.run_options();
  return all.state && (some.module != all.module || some.boxed != all.boxed);
}

void doubt_failure(const CheckContext &context, std::vector<Observed> &eager, Verdict &verdict) try {
  Verdict comparison;
  // A program that keeps state is made anew for each row of calls.
  const int at_a_time = eager.size() > 1 ? static_cast<int>(eager.size()) : 8;
  for (int calls = 2; calls < context.options.eager_calls; calls += at_a_time) {
    auto again = context.run_eager(at_a_time);
    for (size_t call = 0; call < again.size(); ++call)
      if (!context.compare(eager[std::min(call, eager.size() - 1)], again[call], nullptr,
                           reproducibility(context.options.compare), comparison)) {
        verdict = eager_differs(context, again[call], comparison);
        return;
      }
  }
} catch (...) {
  verdict = raised_by_eager(context);
}

void Fp64Reference::make(Child &child, Verdict &verdict) {
  made_ = true;
  child.stage("fp64 reference");
  allow_eager(child, context_.options.patience);
  run(verdict);
  verdict.has_fp64_reference = !calls_.empty();
  if (&eager_.observed() != &eager_.calls)
    for (Observed &call : calls_)
      call = narrowed(std::move(call), context_.run_options());
}

void Fp64Reference::run(Verdict &verdict) {
  const std::string kept = eager_.kept().empty() ? "" : eager_.kept() + ".fp64";
  if (auto runs = kept.empty() ? std::nullopt : load_runs(kept)) {
    calls_ = std::move(runs->calls);
    verdict.no_fp64_because = runs->problem;
    return;
  }
  try {
    calls_ = eager_.observer().run_eager(static_cast<int>(eager_.observed().size()), &eager_.observed());
  } catch (const NoAnswer &) {
    throw;
  } catch (const std::exception &) { // std::bad_alloc too: float64 takes twice the memory, and can be done without
    if (const std::string why = memory_held_by_others(current_message(), context_.options.device); !why.empty())
      throw NoAnswer(why);
    verdict.no_fp64_because = first_sentence(current_message());
  }
  if (!kept.empty())
    keep_runs(kept, {calls_, 0, verdict.no_fp64_because});
}

void allow_optimised(Child &child, const Patience &patience, std::chrono::duration<double> eager) {
  if (patience.least_seconds <= 0)
    return;
  const double seconds = std::max(patience.least_seconds, patience.times_eager * eager.count());
  child.allow(std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)));
}

void allow_eager(Child &child, const Patience &patience) {
  if (patience.least_seconds > 0)
    child.allow(std::chrono::minutes(10));
}

} // namespace repro_minify
