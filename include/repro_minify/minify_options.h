// The options of the whole job: which model, what is asked about it, how long it may take, and who listens.
#pragma once
#include "repro_minify/check.h"
#include "repro_minify/conversion.h"
#include "repro_minify/reducer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Who is told what goes on. Any of these may be empty; all are called by the thread that called the library, which
/// prints and logs nothing by itself.
struct Listener {
  MessageSink message;
  std::function<void(const std::string &phase)> phase; ///< what is done next, as ReproFacts::phases name it
  std::function<void(const ProgramSize &)> begun;      ///< the search begins, with a program of this size
  std::function<void(const Progress &)> progress;      ///< after every check of the search
  /// The progress of another stage that counts: "bisect", 3 of 12; `of` is 0 if the total is not known. finished() is
  /// called when that stage has ended.
  std::function<void(const std::string &what, int done, int of)> count;
  std::function<void()> finished;
  std::function<void(const Reduction &)> reduced; ///< a search has ended
  /// Polled at least ten times a second: true ends the job with the best so far.
  std::function<bool()> interrupted;

  void say(Severity severity, const std::string &text) const {
    if (message)
      message(severity, text);
  }
  void say_finished() const {
    if (finished)
      finished();
  }
  bool stops() const { return interrupted && interrupted(); }
  /// Throws Interrupted.
  void throw_if_interrupted() const {
    if (stops())
      throw Interrupted{};
  }
};

/// Options by their long names, each with other values, or with none at all.
using SettingsChanges = std::map<std::string, std::optional<std::vector<std::string>>>;
/// Returns the options of a job as a text that repeats it, with these changed.
using SettingsText = std::function<std::string(const SettingsChanges &)>;

struct MinifyOptions {
  /// Names as make_backend() takes them, each one or several with commas. The first is what is reduced against; of the
  /// others it is said whether the result fails there too.
  std::vector<std::string> backends;
  BackendOptions backend_options;
  std::string oracle; ///< path of a program in the place of a backend; empty: none. Either this or `backends`.

  int graph = 0; ///< which graph of a log that holds several, from 1; 0: the one that fails
  /// How the model was converted to TorchScript, and from what; null: it was given as TorchScript.
  std::shared_ptr<const Conversion> conversion;

  std::string method = "forward";
  std::optional<std::string> inputs;    ///< file of inputs; nothing: bundled ones, or inputs.pt beside the model
  std::vector<std::string> input_specs; ///< "f32[2,3,32,32]", one for each argument; empty: `inputs`
  bool train = false;                   ///< leave the model in training mode

  CheckOptions check;
  Repetition repetition;
  SameFailure same_failure = SameFailure::Strict;
  double timeout_seconds = 0;       ///< of one check; 0: derived from what the check of the original takes
  std::uint64_t memory_bytes = 0;   ///< private memory that a check may add; 0: three quarters of what is free
  bool require_confinement = false; ///< refuse to run a model where this machine cannot confine it
  int jobs = 1;                     ///< checks at a time; the result does not depend on it
  PassSelection passes;
  double time_budget_seconds = 0; ///< of the search; 0: no limit

  std::string folder;             ///< the repro is written here; made if it does not exist
  bool force = false;             ///< write into a folder that has something in it
  bool resume = false;            ///< go on from the journal in `folder`
  bool verify = true;             ///< build and run repro.cpp
  bool ablation = true;           ///< find out for issue.md whether TorchInductor fails too: 6 to 20 s after all else
  std::vector<std::string> since; ///< Pythons with other versions of torch, in which repro.py is run too
  bool anonymous = false;         ///< issue.md says nothing of where the model comes from
  bool bisect = true;             ///< look for the step of the backend that is guilty
  /// The path of a file to save the model in without the operators of the failure that was reduced; empty: none.
  std::string rest;
  SettingsText settings; ///< text that is kept in `folder` as config.toml; empty: none

  Listener listener;
};

} // namespace repro_minify
