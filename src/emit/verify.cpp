// Verification: repro.cpp is built and run in a folder of its own before it is handed over.
#include "emit/results_folder.h"
#include "emit/verify_repeatedly.h"
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
    const Outcome outcome = until_answered([&] { return run_command(step, std::chrono::minutes(10), interrupted); },
                                           is_trouble_of_the_machine, interrupted);
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
  const auto verify = [&](const std::vector<std::string> &command) {
    return verify_repeatedly([&] { return run_repro(command, printed.path(), interrupted, confinement); },
                             [&](const ReproRun &run) { return judge_run(run, marker, wanted); }, repetition,
                             interrupted);
  };
  const Verification in_cpp = verify({build + "/repro"});
  // Without the package it is repro.py that has just run.
  if (!in_cpp.same_failure || !fs::exists(temporary / "model.pt2"))
    return in_cpp;
  const char *python = std::getenv("REPRO_PYTHON");
  const Verification in_python = verify({python ? python : "python3", temporary / "repro.py"});
  return in_python.same_failure ? in_cpp : Verification{false, "repro.py: " + in_python.message};
}

} // namespace repro_minify
