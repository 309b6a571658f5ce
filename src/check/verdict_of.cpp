// What came of a check's process, as a Verdict.
#include "repro_minify/check.h"
#include "sandbox/ask_again.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace repro_minify {
namespace {

double seconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) * 1e-6;
}

/// "(20 s; eager took 0.0123 s)".
std::string limit_text(const Outcome &outcome) {
  char text[80];
  std::snprintf(text, sizeof text, "%.3g s", seconds(outcome.wall - outcome.before_stage));
  std::string limit = text;
  if (outcome.stage == "optimised") {
    std::snprintf(text, sizeof text, "; eager took %.3g s", seconds(outcome.before_stage));
    limit += text;
  }
  return " (" + limit + ")";
}

/// In the optimised stage it is the backend's failure, before that eager's own.
Verdict backend_or_eager(const Outcome &outcome, Signature signature, const std::string &what) {
  Verdict verdict;
  if (outcome.stage == "optimised") {
    verdict.outcome = Verdict::Outcome::Fail;
    verdict.signatures = {std::move(signature)};
    verdict.message = "the optimised run " + what;
    verdict.eager_seconds = seconds(outcome.before_stage);
    return verdict;
  }
  verdict.eager_failed = outcome.stage == "eager";
  verdict.message = (verdict.eager_failed ? "eager itself " : "the fp64 reference ") + what;
  return verdict;
}

Verdict no_answer(const std::string &message) {
  Verdict verdict;
  verdict.message = message;
  return verdict;
}

/// The innermost named frames: enough to tell two crashes apart, few enough to be the same in a smaller program.
std::string crash_detail(const Outcome &outcome) {
  constexpr size_t most_frames = 2;
  std::string text = "signal " + std::to_string(outcome.signal);
  size_t named = 0;
  for (const auto &frame : outcome.frames)
    if (frame != "?" && named < most_frames)
      text += (named++ ? ", " : " in ") + frame;
  return text;
}

Verdict crash_verdict(const Outcome &outcome) {
  std::string what = "ends with signal " + std::to_string(outcome.signal) + " (" + strsignal(outcome.signal) + ")";
  bool first = true;
  for (const auto &frame : outcome.frames)
    if (frame != "?")
      what += (std::exchange(first, false) ? " in " : " < ") + frame;
  return backend_or_eager(outcome, {FailureKind::Crash, "", crash_detail(outcome)}, what);
}

} // namespace

Verdict verdict_of(const Outcome &outcome) {
  Verdict verdict;
  if (!is_answer(outcome)) {
    verdict = unresolved(outcome.message.empty() ? "the check's process was killed from outside" : outcome.message);
    verdict.no_answer = true;
    return verdict;
  }
  switch (outcome.ending) {
  case Ending::Replied:
    verdict = verdict_from_json(outcome.reply);
    break;
  case Ending::Crashed:
    verdict = crash_verdict(outcome);
    break;
  case Ending::TimedOut:
    verdict = backend_or_eager(outcome, {FailureKind::Hang, "", ""},
                               "did not end within the time limit" + limit_text(outcome));
    break;
  case Ending::OutOfMemory:
    verdict = backend_or_eager(outcome, {FailureKind::Memory, "", ""}, "went past the memory limit");
    break;
  case Ending::Exited:
    verdict = backend_or_eager(outcome, {FailureKind::Crash, "", "exit"},
                               "ended its process with exit code " + std::to_string(outcome.exit_code) +
                                   (outcome.message.empty() ? "" : ": " + outcome.message));
    break;
  case Ending::Threw:
    verdict = no_answer("the check itself failed: " + outcome.message);
    break;
  case Ending::Killed:
  case Ending::Cancelled:
    break;
  }
  verdict.wall_seconds = seconds(outcome.wall);
  return verdict;
}

} // namespace repro_minify
