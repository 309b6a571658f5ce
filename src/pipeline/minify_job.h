// A job in progress: what the stages of minify() hand to one another. One file a stage.
#pragma once
#include "repro/page.h"
#include "repro/verifiers.h"
#include "repro_minify/analysis.h"
#include "repro_minify/minify.h"
#include "repro_minify/reducer.h"
#include "repro_minify/repro.h"
#include "repro_minify/session.h"
#include "tasks/sandbox.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace repro_minify {

struct MinifyJob {
  /// The program that the search began with, as report.html shows it.
  struct Picture {
    std::shared_ptr<const Recording> original; ///< null: there is none
    std::shared_ptr<Analyzer> analysis;        ///< null: the graph has to do without values
  };

  Session &session;
  std::string folder;
  std::chrono::steady_clock::time_point begin; ///< of the whole job
  /// Returns true if a person asks for the end; the session's listener asks for it also once the time budget is spent.
  std::function<bool()> interrupted_by_user = {};
  ReproFacts facts = {};                   ///< filled as it becomes known
  Course course = {};                      ///< of the search
  std::optional<Flattened> flattened = {}; ///< what the search began with
  std::optional<Program> passing = {};     ///< the closest program that passes
  std::optional<Picture> picture = {};     ///< from begin_picture()

  const MinifyOptions &options() const { return session.options; }
  bool has_oracle() const { return !session.oracle.empty(); }
  void say(Severity severity, const std::string &text) const { options().listener.say(severity, text); }
  bool is_wanted(const Verdict &verdict) const { return shows(verdict, facts.signature, options().same_failure); }
  bool is_interrupted() const { return interrupted_by_user && interrupted_by_user(); }
  /// Why something is left out, where the listener asks for the end.
  std::string why_cut_short() const { return is_interrupted() ? "it was interrupted" : "the time budget was spent"; }
  double seconds_so_far() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

// The first question: does the model, as it was given, fail in a way that can be reduced?

/// Returns the end of a job that reduces nothing.
Result ended(Result::Ending ending, std::string why);

/// Why there is nothing to reduce, as the end of the job; nothing: go on. Throws UserError for a model that cannot be
/// checked at all.
std::optional<Result> nothing_to_reduce(const Session &session, const FailureRate &rate);

/// A test that is always true would be reduced to nothing (throws UserError), and one that is not sure of itself to
/// anything: then the end of the job. Nothing for a check under a backend.
std::optional<Result> oracle_is_unsure(Session &session, const FailureRate &rate);

/// TorchInductor draws random numbers by a generator of its own, which a check replaces by eager's
/// (`torch._inductor.config.fallback_random`), as their values could not be compared. What its own generator gets wrong
/// is not seen then: a dtype, or an exception.
///
/// Checks a model that passes under TorchInductor and draws random numbers once more, with TorchInductor's generator.
/// Returns the session's options with `fallback_random=false` if it fails so in another way than by its values, which
/// differ in any case; nothing otherwise, and where the user has set that entry. Throws Interrupted.
std::optional<MinifyOptions> options_with_own_generator(const Session &session, const FailureRate &rate);

/// The model's graph with what it calls inlined; where that cannot be, what it calls is not seen.
std::shared_ptr<torch::jit::Graph> graph_as_called(const Session &session);

/// The search. What fails as a Program and no longer as its file is searched for once more, each candidate as its file.
/// The result is in `job.folder` as reduced.pt and inputs.pt.
Reduction search(MinifyJob &job, const Flattened &flattened);
/// The search once more, for a program whose repro.py fails too, run in an interpreter of its own: each candidate that
/// fails in a check is run so. Nothing where the program that the search began with does not, or where it was
/// interrupted. `earlier` is the search whose result fails in checks alone.
std::optional<Reduction> search_for_what_shows_in_python(MinifyJob &job, const Flattened &flattened,
                                                         const Reduction &earlier);

/// Begins `job.picture`, for report.html. Called once, after collect_facts(); on a device while nothing else runs
/// there, as it is not known how much room it has.
void begin_picture(MinifyJob &job);
/// Writes report.html, and begins its picture first if that is still to be done. Throws UserError if it cannot be
/// written.
void write_page(MinifyJob &job, const Program &program);

/// Returns the program in reduced.pt and inputs.pt, read again by the child that runs it.
ModuleFactory saved_factory(const MinifyJob &job);
/// TorchScript's loader can change a program, and with it the failure. One that comes and goes is not lost in saving.
bool is_lost_in_saving(const MinifyJob &job, const Program &program);
/// True if what was saved fails, loaded again in new processes; else facts.verify_message says what came of it.
bool confirm_saved(MinifyJob &job);

/// The files of Python that repro.py imports and that are kept beside it: those of --import, and that of the backend
/// torch-compile:FILE.py:FUNCTION.
std::vector<std::string> files_of_modules(const Session &session);

/// Fills in `job.facts`: what was asked, and of what program. The second adds what came of a reduction.
void collect_facts(MinifyJob &job, const Program &program);
void collect_facts(MinifyJob &job, const Flattened &flattened, const Reduction &reduction);

/// The last word on repro.cpp and repro.py, in facts.verified and facts.script.
class Verifying {
public:
  /// It has to live as long.
  explicit Verifying(MinifyJob &job) : job_(job) {}
  /// Has CMake configure the repro's project beside the search, which takes a second and no program. May be called at
  /// any time, or never.
  void prepare();
  /// Starts a repro.py that needs nothing of what is found out after the search: it runs beside all of that. The
  /// program has to live as long.
  void begin(const Program &program);
  /// repro.cpp is built and run; `meanwhile` is called once while the compiler works, and `complete` after it: what is
  /// to be run is whole then. Without begin() too; without this what was begun is killed.
  void end(const Program &program, const std::function<void()> &meanwhile, const std::function<void()> &complete);

private:
  bool is_wanted() const;
  bool needs_nothing_else() const;
  ScriptVerifier &script();
  /// Builds and runs repro.cpp; what is handed to it is called as end() says.
  Verification verify_cpp(const Program &program, const std::function<bool()> &meanwhile,
                          const std::function<void()> &complete);
  void take(const Verification &verification);
  void take_script_alone();
  void take_script_without_cpp(const std::string &why);

  MinifyJob &job_;
  std::optional<std::string> python_; ///< that runs repro.py; empty: there is none
  std::unique_ptr<ReproVerifier> repro_;
  std::unique_ptr<ScriptVerifier> script_;
  bool has_begun_ = false;
};

// model.pt2, of a backend that is used from Python. It takes a compiler eight seconds and depends on nothing but the
// reduced program, so it is made beside all that comes after the search.

/// Null where there is none to make, or no longer.
using PackageTask = std::unique_ptr<Task<JobEnd>>;

/// Begins with it, where there can be one; if there cannot, job.facts say why. Both have to live as long.
PackageTask begin_package(MinifyJob &job, const Program &program);

/// Waits for the package, unless interrupted. Where there is none after all, a repro.cpp that was written for one is
/// written anew.
void finish_package(MinifyJob &job, const Program &program, PackageTask &task);

/// Returns the Python that runs repro.py; empty: there is none.
std::string python_of_repro(const MinifyJob &job);

/// True if repro.py of `program` fails as wanted in three runs, each in an interpreter of its own.
bool shows_in_python(const MinifyJob &job, const Program &program);

/// All that comes after the search: the guilty step, the repro and whether it holds, the other backends, the reports.
/// `factory` makes what is handed over, `program` what the reports show of it. `interrupted`: only what takes no time.
void hand_over(MinifyJob &job, Verifying &verifying, const Program &program, const ModuleFactory &factory,
               bool interrupted);

// The rest of a model: what is left of it without the operators that a failure needs.

/// A model without one failure, wherever it shows it.
struct RestOfModel {
  /// The flat model without the operators of the reduced program: what read their results reads the values that eager
  /// gave, as inputs. Nothing where no operator of the reduced program is found in the model, or none is left.
  std::optional<Program> program;
  /// Where the failure was seen: the place that was reduced, and each other one whose operators alone fail in the same
  /// way.
  int places = 1;
};

/// Takes `reduced`, which `model` came down to and which fails as `wanted` says, out of the model. Asks a check for
/// each other place that has the same operators. Throws Interrupted, std::runtime_error for what cannot be recorded.
RestOfModel rest_of_model(Session &session, const Flattened &model, const Program &reduced, const Signature &wanted);

// A program of the user's own that says whether a candidate is interesting, by its exit code; the habit that users of
// llvm-reduce, C-Reduce and shrinkray have:
//
//   0    interesting: the candidate still shows what is looked for
//   1    not interesting
//   101  not interesting, but worth keeping: a copy is put aside
//   125  cannot be told (as for git bisect run)
//
// Any other exit code counts as 1; a program that cannot be started (126, 127), is killed or takes too long, as 125.

/// The program gets one argument: the path of candidate.pt, with its inputs.pt beside it. It runs where we were
/// started, with what it prints kept for messages. Candidates lie in FOLDER/candidates while they are judged; those
/// that it answers 101 to are kept in FOLDER/also-interesting. `grad`: they are saved with requires_grad.
InterestingnessTest external_oracle(const std::string &program, const std::string &folder, bool grad);

/// The job that asks about a file as it is.
Job ask_oracle(const std::string &program, const std::string &model);

/// The oracle in the place of a backend, where reports and settings need one. Compiles nothing.
std::shared_ptr<const Backend> oracle_backend(const std::string &program);

/// The absolute path. Throws UserError unless it is an executable file.
std::string require_executable(const std::string &program);

// The identity of a reduction: two with the same one may share a journal.

/// All that answers depend on beside the candidates: versions, the model, its inputs, the options of a check.
Identity identity_of(const Session &session);

} // namespace repro_minify
