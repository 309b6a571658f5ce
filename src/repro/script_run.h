// A script of a repro, run by a Python in a process and a folder of its own.
#pragma once
#include "core/files.h"
#include "repro_minify/repro.h"
#include "tasks/sandbox.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

// Judges one run of a repro: it shows the failure it was written for, or something else.

/// A run of a repro: how it ended, and what it wrote to standard output.
struct ReproRun {
  JobEnd job_end; ///< its output_tail has standard error alone, all of it
  std::string printed;
};

/// Returns the end of a text, as much of it as a message may have.
std::string last_part(const std::string &text);

/// Returns a prefix for commands (env ...) that sets HOME to this folder: runtimes write there as they are imported,
/// and a repro may not write to the user's. Packages that the user has installed there are found all the same.
std::vector<std::string> with_home(const std::string &folder);

/// Starts a repro, and returns at once. `folder` is for what it prints; one that prints without end is Cancelled.
/// `kept` lives as long as the task.
std::unique_ptr<Task<ReproRun>> start_repro(const std::vector<std::string> &command, const std::string &folder,
                                            const Confinement &confinement, std::chrono::milliseconds timeout,
                                            std::shared_ptr<const void> kept = nullptr);

/// Runs the program to its end, or for five minutes. `folder` is for what it prints.
ReproRun run_repro(const std::vector<std::string> &command, const std::string &folder,
                   const std::function<bool()> &interrupted = {}, const Confinement &confinement = {.none = true});

/// True for an exception, and for a device's error that stays: a crash by its kind, which ends no process and is told
/// from others by its message.
bool is_told_by_message(const Signature &wanted);

/// Judges whether the run shows `wanted`. Any program may exit with 1, as does a Python that cannot even import torch:
/// only the line `marker`, printed whole by this run, says that the failure was seen; and what was raised, or the
/// signal, has to be that of `wanted`.
Verification judge_run(const ReproRun &run, const std::string &marker, const Signature &wanted);

/// The same of a script, repro.py, that lets the failure happen in its last statement: an assertion, the exception
/// itself. Python's traceback has to begin there, in a line of this very text: all before it, eager's run too, has then
/// gone well. A signal, and no end at all, leave no traceback: eager has to have been printed before ("eager: ...").
Verification judge_script(const ReproRun &run, const std::string &script, const Signature &wanted);

/// True if a run of test_repro.py is a test that fails, by an assertion or by the exception that is wanted.
bool is_failing_test(const ReproRun &run, const Signature &wanted);

struct ScriptToRun {
  std::string python; ///< the interpreter
  /// Files by name, the script that is run first: "repro.py".
  std::vector<std::pair<std::string, std::string>> files;
  bool reads_files = false; ///< inputs.pt, attributes.pt and reduced.pt lie beside it
};

/// Starts it, confined as the backend's checks are, beside copies of the user's libraries and modules that lie in
/// `results`, and returns the folder too in which it runs; the task keeps it as well. Throws std::system_error where no
/// folder or process can be made.
std::pair<std::unique_ptr<Task<ReproRun>>, std::shared_ptr<const TemporaryFolder>>
start_script(const ScriptToRun &script, const ReproFacts &facts, const std::string &results);

// Runs of what was written, as many as it takes to know.

/// Again, after a pause, as long as what came of it is the machine's trouble.
template <typename Run, typename IsTrouble>
auto until_answered(const Run &run, const IsTrouble &is_trouble, const std::function<bool()> &interrupted) {
  for (int again = 0;; ++again) {
    auto ended = run();
    if (!is_trouble(ended) || again == most_asked_again || !pause_before_asking_again(again, interrupted))
      return ended;
  }
}

/// Runs and judges as often as `repetition` says. A run that the machine could not do is repeated, and says nothing.
Verification verify_repeatedly(const std::function<ReproRun()> &run,
                               const std::function<Verification(const ReproRun &)> &judge, const Repetition &repetition,
                               const std::function<bool()> &interrupted);

} // namespace repro_minify
