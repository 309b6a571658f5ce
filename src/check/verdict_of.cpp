// Turns the end of a check's process into a Verdict.
#include "core/number_text.h"
#include "repro_minify/check.h"
#include "tasks/run_until_answered.h"

#include <cstring>
#include <utility>

namespace repro_minify {
namespace {

double seconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) * 1e-6;
}

/// "(20 s; eager took 0.0123 s)".
std::string limit_text(const JobEnd &job_end) {
  std::string limit = rounded_text(seconds(job_end.wall - job_end.before_stage)) + " s";
  if (job_end.stage == "optimised")
    limit += "; eager took " + rounded_text(seconds(job_end.before_stage)) + " s";
  return " (" + limit + ")";
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
                               "did not end within the time limit" + limit_text(job_end));
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
