// Verification: repro.cpp is built and run in a folder of its own before it is handed over.
#include "emit/judge_run.h"
#include "emit/results_folder.h"
#include "sandbox/ask_again.h"
#include "sandbox/command.h"
#include "support/find_program.h"
#include "support/temporary_folder.h"

#include <cstdlib>
#include <filesystem>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

std::string last_lines(const std::string &text) {
  const size_t size = std::min<size_t>(text.size(), 600);
  return text.substr(text.size() - size);
}

/// No room, no memory, no process, or somebody who kills: that says nothing of what is built and run.
bool is_trouble_of_the_machine(const Outcome &outcome) {
  if (outcome.ending == Ending::Cancelled)
    return false;
  if (!is_answer(outcome))
    return true;
  for (const char *sign : {"No space left on device", "Killed signal", "Cannot allocate memory",
                           "Resource temporarily unavailable", "Disk quota exceeded"})
    if (outcome.ending == Ending::Exited && outcome.exit_code != 0 &&
        outcome.output_tail.find(sign) != std::string::npos)
      return true;
  return false;
}

bool is_trouble_of_the_machine(const ReproRun &run) {
  return run.outcome.ending != Ending::Cancelled && !is_answer(run.outcome);
}

/// Again, after a pause, as long as it is the machine's trouble.
template <typename Run> auto until_answered(const Run &run, const std::function<bool()> &interrupted) {
  for (int again = 0;; ++again) {
    auto ended = run();
    if (!is_trouble_of_the_machine(ended) || again == most_asked_again ||
        !pause_before_asking_again(again, interrupted))
      return ended;
  }
}

class Runs {
public:
  Runs(const TemporaryFolder &folder, std::string marker, const Signature &wanted, const Repetition &repetition,
       const std::function<bool()> &interrupted, Confinement confinement)
      : folder_(folder), marker_(std::move(marker)), wanted_(wanted), repetition_(repetition),
        interrupted_(interrupted), confinement_(std::move(confinement)) {}

  Verification of(const std::vector<std::string> &command) const {
    int failed = 0;
    Verification last;
    for (int run = 0; run < repetition_.runs && failed < repetition_.need; ++run) {
      const ReproRun ended =
          until_answered([&] { return run_repro(command, folder_.path(), interrupted_, confinement_); }, interrupted_);
      last = judge_run(ended, marker_, wanted_);
      failed += last.same_failure;
    }
    if (failed < repetition_.need && repetition_.runs > 1)
      return {false, "repro failed in " + std::to_string(failed) + " of " + std::to_string(repetition_.runs) +
                         " runs; of the last: " + last.message};
    return last;
  }

private:
  const TemporaryFolder &folder_;
  const std::string marker_;
  const Signature &wanted_;
  const Repetition &repetition_;
  const std::function<bool()> &interrupted_;
  const Confinement confinement_;
};

} // namespace

Verification verify_repro(const std::string &folder, const std::string &marker, const Signature &wanted,
                          const Repetition &repetition, const std::function<bool()> &interrupted,
                          const Confinement &given) {
  const TemporaryFolder temporary, printed;
  for (const auto &entry : fs::directory_iterator(folder)) // the journal and the like are not needed, and do no harm
    if (is_of_this_run(entry.path()))
      fs::copy_file(entry.path(), temporary / entry.path().filename());
  const std::string build = temporary / "build";
  std::vector<std::string> configure = {
      "cmake", "-S", temporary.path(), "-B", build, std::string("-DCMAKE_PREFIX_PATH=") + REPRO_MINIFY_TORCH_PREFIX};
  if (!find_program("ninja").empty())
    configure.insert(configure.end(), {"-G", "Ninja"});
  for (const auto &step : {configure, std::vector<std::string>{"cmake", "--build", build}}) {
    const Outcome outcome =
        until_answered([&] { return run_command(step, std::chrono::minutes(10), interrupted); }, interrupted);
    if (is_trouble_of_the_machine(outcome))
      return {false, "the machine could not build repro.cpp, which says nothing of it: " +
                         last_lines(outcome.message + outcome.output_tail)};
    if (outcome.ending != Ending::Exited || outcome.exit_code != 0)
      return {false, outcome.exit_code == 127 ? "cmake was not found; install it, or use --no-verify"
                                              : "repro.cpp does not build: " + last_lines(outcome.output_tail)};
  }
  Confinement confinement = given;
  confinement.readable.push_back(temporary.path());
  confinement.writable.push_back(printed.path());
  const Runs runs(printed, marker, wanted, repetition, interrupted, confinement);
  const Verification in_cpp = runs.of({build + "/repro"});
  // Without the package it is repro.py that has just run.
  if (!in_cpp.same_failure || !fs::exists(temporary / "model.pt2"))
    return in_cpp;
  const char *python = std::getenv("REPRO_PYTHON");
  const Verification in_python = runs.of({python ? python : "python3", temporary / "repro.py"});
  return in_python.same_failure ? in_cpp : Verification{false, "repro.py: " + in_python.message};
}

} // namespace repro_minify
