#include "check/verdict_text.h"

#include "core/number_text.h"
#include "core/text.h"
#include "program/compute.h"
#include "repro_minify/compare.h"
#include "tasks/sandbox.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace repro_minify {
namespace {

constexpr const char *whole_numbers = "whole numbers";
constexpr const char *infinities = "Inf, no NaN";

/// Where rounding is a failure, a wrong whole number is another one: no search may end at what is only rounded. An
/// infinity out of place is another failure than a NaN: a number that overflows, and one that is none.
std::string what_is_wrong(const LeafReport &leaf, FailureKind kind, CompareRule rule) {
  if (kind == FailureKind::Nan)
    return leaf.ref_nan == 0 && leaf.res_nan == 0 ? infinities : "";
  return kind == FailureKind::Accuracy && !has_arbiter(rule) && is_whole(leaf) ? whole_numbers : "";
}

bool has(const LeafReport &leaf, FailureKind kind) {
  return std::find(leaf.kinds.begin(), leaf.kinds.end(), kind) != leaf.kinds.end();
}

double seconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) * 1e-6;
}

/// Returns " (ended after 20 s; eager took 0.0123 s)": what was measured, as each check may have a limit of its own.
std::string time_taken_text(const JobEnd &job_end) {
  std::string taken = " (ended after " + rounded_text(seconds(job_end.wall - job_end.before_stage)) + " s";
  if (job_end.stage == "optimised")
    taken += "; eager took " + rounded_text(seconds(job_end.before_stage)) + " s";
  return taken + ")";
}

/// In the optimised stage it is the backend's failure, before that eager's own.
Verdict backend_or_eager(const JobEnd &job_end, Signature signature, const std::string &what) {
  Verdict verdict;
  if (job_end.stage == "optimised") {
    verdict.outcome = Verdict::Outcome::Fail;
    verdict.signatures = {std::move(signature)};
    verdict.message = "the optimised run " + what;
    verdict.eager_seconds = seconds(job_end.before_stage);
    return verdict;
  }
  verdict.eager_failed = job_end.stage == "eager";
  verdict.message = (verdict.eager_failed ? "eager itself " : "the fp64 reference ") + what;
  return verdict;
}

Verdict no_answer(const std::string &message) {
  Verdict verdict;
  verdict.message = message;
  return verdict;
}

/// The innermost named frames: enough to tell two crashes apart, few enough to be the same in a smaller program.
std::string crash_detail(const JobEnd &job_end) {
  constexpr size_t most_frames = 2;
  std::string text = "signal " + std::to_string(job_end.signal);
  size_t named = 0;
  for (const auto &frame : job_end.frames)
    if (frame != "?" && named < most_frames)
      text += (named++ ? ", " : " in ") + frame;
  return text;
}

Verdict crash_verdict(const JobEnd &job_end) {
  std::string what = "ends with signal " + std::to_string(job_end.signal) + " (" + strsignal(job_end.signal) + ")";
  bool first = true;
  for (const auto &frame : job_end.frames)
    if (frame != "?")
      what += (std::exchange(first, false) ? " in " : " < ") + frame;
  return backend_or_eager(job_end, {FailureKind::Crash, "", crash_detail(job_end), job_end.signal}, what);
}

} // namespace

const std::vector<LeafReport> &leaves_at(const Verdict &verdict, const std::string &where) {
  return where == "gradient" ? verdict.gradients : where == "state" ? verdict.state : verdict.outputs;
}

bool is_whole(const LeafReport &leaf) {
  return leaf.ref_form && c10::isIntegralType(leaf.ref_form->dtype, /*includeBool=*/true);
}

std::pair<std::string, const LeafReport *> first_leaf(const Verdict &verdict,
                                                      const std::function<bool(const LeafReport &)> &is_wanted) {
  const std::pair<const char *, const std::vector<LeafReport> *> aspects[] = {
      {"output", &verdict.outputs}, {"gradient of ", &verdict.gradients}, {"", &verdict.state}};
  for (const auto &[what, leaves] : aspects)
    for (const LeafReport &leaf : *leaves)
      if (is_wanted(leaf))
        return {what + leaf.path, &leaf};
  return {"", nullptr};
}

std::vector<Signature> signatures_of(const LeafReport &leaf, const std::string &where, CompareRule rule) {
  std::vector<Signature> signatures;
  for (FailureKind kind : leaf.kinds) {
    const std::string detail = what_is_wrong(leaf, kind, rule);
    if (where == "gradient" && (kind == FailureKind::Accuracy || kind == FailureKind::Structure))
      kind = FailureKind::Gradient;
    signatures.push_back({kind, where, detail});
  }
  return signatures;
}

bool comes_of_dtypes(const Verdict &verdict, const Signature &failure) {
  const auto &leaves = leaves_at(verdict, failure.where);
  return (failure.kind == FailureKind::Accuracy || failure.kind == FailureKind::Nan) &&
         std::any_of(leaves.begin(), leaves.end(), [&](const LeafReport &leaf) { return has(leaf, failure.kind); }) &&
         std::all_of(leaves.begin(), leaves.end(),
                     [&](const LeafReport &leaf) { return !has(leaf, failure.kind) || has(leaf, FailureKind::Dtype); });
}

namespace {

/// One that does not hang on equal elements may stand for one that does, and an infinity for a NaN, which is often made
/// of one further on.
bool is_same(Signature seen, const Signature &wanted) {
  seen.at_equal_elements |= wanted.at_equal_elements;
  if (wanted.kind == FailureKind::Nan && wanted.detail.empty())
    seen.detail.clear();
  return seen == wanted;
}

} // namespace

const LeafReport *leaf_showing(const Verdict &verdict, const Signature &failure) {
  const bool tells_whole_numbers = // as only some rules do
      std::any_of(verdict.signatures.begin(), verdict.signatures.end(),
                  [](const Signature &signature) { return signature.detail == whole_numbers; });
  const CompareRule rule = tells_whole_numbers ? CompareRule::Exact : CompareRule::Default;
  const auto &leaves = leaves_at(verdict, failure.where);
  auto found = std::find_if(leaves.begin(), leaves.end(), [&](const LeafReport &leaf) {
    const auto shown = signatures_of(leaf, failure.where, rule);
    return std::any_of(shown.begin(), shown.end(), [&](const Signature &one) { return is_same(one, failure); });
  });
  if (found == leaves.end())
    found = std::find_if(leaves.begin(), leaves.end(), [](const LeafReport &leaf) { return !leaf.same; });
  return found == leaves.end() ? nullptr : &*found;
}

// Signatures: when two failures are one.

std::string to_string(const Signature &signature) {
  std::string text = to_string(signature.kind);
  if (!signature.where.empty() && signature.where != "output" && signature.where != text)
    text += " in " + signature.where;
  if (!signature.detail.empty())
    text += ": " + signature.detail;
  if (signature.at_equal_elements)
    text += " at equal elements";
  return text;
}

const char *to_string(SameFailure same_failure) {
  constexpr const char *names[] = {"strict", "kind", "any"};
  return names[static_cast<size_t>(same_failure)];
}

bool shows(const Verdict &verdict, const Signature &wanted, SameFailure same_failure) {
  if (verdict.outcome != Verdict::Outcome::Fail)
    return false;
  return std::any_of(verdict.signatures.begin(), verdict.signatures.end(), [&](const Signature &seen) {
    return same_failure == SameFailure::Any ||
           (same_failure == SameFailure::Kind ? seen.kind == wanted.kind : is_same(seen, wanted));
  });
}

std::string normalise_message(const std::string &message) {
  return without_particulars(first_sentence(message));
}

const char *to_string(FailureKind kind) {
  constexpr const char *names[] = {"crash", "hang",     "memory",   "exception", "structure",  "shape",
                                   "nan",   "gradient", "accuracy", "dtype",     "interesting"};
  return names[static_cast<size_t>(kind)];
}

FailureKind failure_kind_from(const std::string &name) {
  for (int kind = 0; kind <= static_cast<int>(FailureKind::Interesting); ++kind)
    if (name == to_string(static_cast<FailureKind>(kind)))
      return static_cast<FailureKind>(kind);
  throw std::invalid_argument("unknown failure kind: " + name);
}

bool is_comparison(FailureKind kind) {
  return kind > FailureKind::Exception && kind < FailureKind::Interesting;
}

// Turns the end of a check's process into a Verdict.

Verdict verdict_of(const JobEnd &job_end) {
  Verdict verdict;
  if (!is_answer(job_end)) {
    verdict = no_answer(job_end.message.empty() ? "the check's process was killed from outside" : job_end.message);
    verdict.no_answer = true;
    return verdict;
  }
  switch (job_end.ending) {
  case Ending::Replied:
    verdict = verdict_from_json(job_end.reply);
    break;
  case Ending::Crashed:
    verdict = crash_verdict(job_end);
    break;
  case Ending::TimedOut:
    verdict = backend_or_eager(job_end, {FailureKind::Hang, "", ""},
                               "did not end within the time limit" + time_taken_text(job_end));
    break;
  case Ending::OutOfMemory:
    verdict = backend_or_eager(job_end, {FailureKind::Memory, "", ""}, "went past the memory limit");
    verdict.out_of_memory = true;
    verdict.eager_bytes = job_end.bytes_before_stage;
    break;
  case Ending::Exited:
    verdict = backend_or_eager(job_end, {FailureKind::Crash, "", "exit"},
                               "ended its process with exit code " + std::to_string(job_end.exit_code) +
                                   (job_end.message.empty() ? "" : ": " + job_end.message));
    break;
  case Ending::Threw:
    verdict = no_answer("the check itself failed: " + job_end.message);
    verdict.trouble = Verdict::Trouble::Bug;
    break;
  case Ending::Killed:
  case Ending::Cancelled:
    break;
  }
  verdict.wall_seconds = seconds(job_end.wall);
  return verdict;
}

} // namespace repro_minify
