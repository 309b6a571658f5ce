// Verification: repro.cpp is built and run in a folder of its own before it is handed over.
#include "repro_minify/repro.h"

#include "sandbox/command.h"
#include "support/find_program.h"
#include "support/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

std::string last_lines(const std::string &text) {
  const size_t size = std::min<size_t>(text.size(), 600);
  return text.substr(text.size() - size);
}

/// What the program printed behind "FAIL KIND: ".
Verification judge_output(const Outcome &outcome, const Signature &wanted) {
  const std::string marker = std::string("FAIL ") + to_string(wanted.kind) + ": ";
  const auto at = outcome.output_tail.find(marker);
  if (outcome.ending != Ending::Exited || outcome.exit_code != 1)
    return {false, "repro ended with " +
                       (outcome.signal ? "signal " + std::to_string(outcome.signal)
                                       : "exit code " + std::to_string(outcome.exit_code)) +
                       " instead of 1: " + last_lines(outcome.output_tail)};
  // A long message may have pushed the marker out of what is kept of the output; the exit code has said what counts.
  if (wanted.kind == FailureKind::Exception && at != std::string::npos) {
    const std::string message = normalise_message(outcome.output_tail.substr(at + marker.size()));
    if (message != wanted.detail)
      return {false, "repro raises another exception: " + message};
  }
  // The frames are of the tool's own build; the signal is not.
  if (wanted.kind == FailureKind::Crash && at != std::string::npos) {
    const std::string signal =
        outcome.output_tail.substr(at + marker.size(), outcome.output_tail.find(',', at) - at - marker.size());
    if (wanted.detail.rfind("signal ", 0) == 0 && wanted.detail.substr(0, wanted.detail.find(" in ")) != signal)
      return {false, "repro ends with another signal: " + signal};
  }
  return {true, "built and run"};
}

Verification run_repeatedly(const std::vector<std::string> &command, const Signature &wanted,
                            const Repetition &repetition, const std::function<bool()> &interrupted) {
  int failed = 0;
  Verification last;
  for (int run = 0; run < repetition.runs && failed < repetition.need; ++run) {
    last = judge_output(run_command(command, std::chrono::minutes(5), interrupted), wanted);
    failed += last.same_failure;
  }
  if (failed < repetition.need && repetition.runs > 1)
    return {false, "repro failed in " + std::to_string(failed) + " of " + std::to_string(repetition.runs) + " runs"};
  return last;
}

} // namespace

Verification verify_repro(const std::string &folder, const Signature &wanted, const Repetition &repetition,
                          const std::function<bool()> &interrupted) {
  const TemporaryFolder temporary;
  for (const auto &entry : fs::directory_iterator(folder)) // the journal and the like are not needed, and do no harm
    if (entry.is_regular_file())
      fs::copy_file(entry.path(), temporary / entry.path().filename());
  const std::string build = temporary / "build";
  std::vector<std::string> configure = {
      "cmake", "-S", temporary.path(), "-B", build, std::string("-DCMAKE_PREFIX_PATH=") + REPRO_MINIFY_TORCH_PREFIX};
  if (!find_program("ninja").empty())
    configure.insert(configure.end(), {"-G", "Ninja"});
  for (const auto &step : {configure, std::vector<std::string>{"cmake", "--build", build}}) {
    const Outcome outcome = run_command(step, std::chrono::minutes(10), interrupted);
    if (outcome.ending != Ending::Exited || outcome.exit_code != 0)
      return {false, outcome.exit_code == 127 ? "cmake was not found; install it, or use --no-verify"
                                              : "repro.cpp does not build: " + last_lines(outcome.output_tail)};
  }
  const Verification in_cpp = run_repeatedly({build + "/repro"}, wanted, repetition, interrupted);
  // Without the package it is repro.py that has just run.
  if (!in_cpp.same_failure || !fs::exists(temporary / "model.pt2"))
    return in_cpp;
  const char *python = std::getenv("REPRO_PYTHON");
  const Verification in_python =
      run_repeatedly({python ? python : "python3", temporary / "repro.py"}, wanted, repetition, interrupted);
  return in_python.same_failure ? in_cpp : Verification{false, "repro.py: " + in_python.message};
}

} // namespace repro_minify
