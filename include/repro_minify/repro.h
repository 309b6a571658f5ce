// The Repro: the files that are handed back, the facts in them, and their verification.
#pragma once
#include "repro_minify/bisect.h"
#include "repro_minify/nature.h"
#include "repro_minify/reducer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct Archive;

/// The outcome of the reduced program under another backend.
struct OtherBackend {
  std::string name;
  Verdict verdict;
  bool same_signature = false; ///< whether it fails there with the signature it was reduced for
};
/// One line: "fails too, with the same signature".
std::string to_string(const OtherBackend &other);

/// The outcome of running repro.py.
struct ScriptVerification {
  std::optional<bool> verified; ///< nothing: not tried, or there is no repro.py; `message` says why
  std::string message;
  int lines = 0;                     ///< of code
  double seconds = 0;                ///< that the runs took
  std::string statement;             ///< the program if repro.py has it in one statement; else empty
  std::string shown;                 ///< what repro.py printed and raised, without files of this machine
  std::optional<bool> test_verified; ///< test_repro.py; nothing: there is none
};

/// One check of the reduced program under other settings, which tells what takes part in the failure.
struct AblationRow {
  std::string what;          ///< "inductor, simdlen=1"
  std::string result;        ///< "fails in the same way"
  std::optional<bool> fails; ///< with a failure of the same kind; nothing: with another one, or no answer
  std::string setting = {};  ///< "dynamic=True" where the row is one setting of TorchInductor
  bool has_answer = true;    ///< false: a check was made, and `result` says why it told nothing
};

/// The outcome of repro.py under one version of PyTorch.
struct VersionRow {
  enum class Outcome {
    NoAnswer, ///< `message` says why
    Right,
    Wrong, ///< in the same way
  };
  std::string torch; ///< "2.12.1+cpu"; empty: it has none
  Outcome outcome = Outcome::NoAnswer;
  std::string message;
  /// True if the side gave the result of the version that was reduced under; nothing: there are no two to compare.
  std::optional<bool> same_eager, same_optimised;
};

/// A change of the reduced program with which eager gives what the backend gives, for its inputs and for others.
struct Explanation {
  std::string kind;  ///< as changes.py has it: "left out", "before", "with", ...
  std::string call;  ///< the call that is changed, as repro.py has it; empty: all that `other` can be done to
  std::string other; ///< before or after which call it runs, without which argument, as which function, in which dtype
  std::string operator_name = {}; ///< what `call` calls: "abs"; empty where `call` is
};

/// For which other inputs the reduced program is wrong too (backends/inductor/conditions.py).
struct Conditions {
  struct Case {
    std::string what; ///< "int8"; "1-d"; "the first dimension", which is three times as long
    std::string kind; ///< "dtype", "rank", "size"
    bool fails = false;
  };
  std::string dtype;                              ///< of the inputs as they are
  std::optional<std::vector<std::int64_t>> sizes; ///< of all of them; none where they differ
  std::vector<Case> cases;                        ///< those that eager takes
  bool is_numpys = false;                         ///< NumPy gives what eager gives
};

/// The code that TorchInductor makes of the reduced program (backends/inductor/generated.py).
struct GeneratedCode {
  /// Where in PyTorch an operator is turned into others, or into code; or the guilty pass over a graph.
  struct Origin {
    std::string operator_name; ///< "aten.round.decimals"; the name of a pass
    std::string kind; ///< "core decomposition" (AOTAutograd's), "decomposition", "lowering", "code generation", "pass"
    std::string function; ///< "round_dec", "CppVecOverrides.sinh"
    std::string file;     ///< as a path within PyTorch: "torch/_inductor/decomposition.py"
    int line = 0;
    std::string source; ///< of a short decomposition; else empty
  };
  std::string language; ///< of the kernels: "cpp", "python" or, without any, empty
  std::string code;     ///< the statements of its kernels; empty where they are too many
  std::string calls;    ///< in Python, what calls them; empty where that calls nothing else
  std::vector<Origin> origins;
};

/// A change that was tried and makes the reduced program right.
struct Workaround {
  enum class Kind {
    Setting,  ///< a statement
    Argument, ///< of torch.compile
    Fallback, ///< a statement, which the cache of compiled graphs knows nothing of
    Eager,    ///< its operators are left to eager
  };
  Kind kind = Kind::Setting;
  std::string code;                    ///< as its user writes it; of Eager "torch.compiler.disable"
  std::optional<bool> mends_model;     ///< the model that was reduced too; nothing: not known
  std::optional<double> times_as_long; ///< a call of that model, measured against one without it
};

/// Everything a report says, by the stage that fills it.
struct ReproFacts {
  // The request, known before anything is checked.
  std::string version, torch_version;
  std::string model_path, method, inputs_origin;
  std::vector<std::string> libraries; ///< of operators that PyTorch has not, as files beside the repro
  std::vector<std::string> modules;   ///< of Python, which register operators, as files beside the repro
  std::string converted;              ///< to_string() of the Conversion; empty: the model was TorchScript
  std::shared_ptr<const Backend> backend;
  CheckOptions check;
  SameFailure same_failure = SameFailure::Strict;
  Repetition repetition;
  bool train = false;     ///< the model was left in training mode
  bool anonymous = false; ///< nothing is said of where the model comes from
  bool verify = true;     ///< the repros are to be run
  /// Operators of the reduced program that may be nondeterministic: then the settings of determinism are part of it.
  bool needs_determinism = false;
  unsigned hang_seconds = 30;     ///< after which the optimised side counts as one that hangs
  std::uint64_t memory_bytes = 0; ///< what the optimised side was given; 0: no limit

  // The outcome of the check of the model as it was given, and of flattening.
  Signature signature;                        ///< the failure that is looked for
  Verdict original;                           ///< of the model as it was given
  int original_failed = 1, original_runs = 1; ///< how often it failed of how many runs
  std::string flatten_level;                  ///< how much was flattened: "straight line", "calls"
  std::optional<std::string> hidden_by;       ///< the flattening step that makes the failure vanish
  ProgramSize before;

  // The outcome of the search. Sizes count as ProgramSize does.
  Verdict reduced; ///< of the program that is handed back
  /// Why the model is handed back as it was given, and what to try; nothing: it was reduced.
  std::optional<std::string> not_reduced;
  ProgramSize after;
  int after_freezing = -1;                    ///< operators_after_freezing
  std::vector<std::string> not_shown_because; ///< as Reduction has it
  bool one_minimal = false, interrupted = false, out_of_time = false;
  bool has_passing = false; ///< whether passing.pt was written
  int checks = 0, cached = 0, resumed = 0;
  double search_seconds = 0, check_seconds = 0;
  std::vector<PassStatistics> passes;

  // The findings about the reduced program, and whether its repros hold.
  std::optional<Bisection> bisection;  ///< nothing: not tried, or the backend has no steps
  std::optional<bool> reads_unwritten; ///< reads_unwritten_memory of it
  Movement movement;                   ///< movement_of_eager of it
  /// Why C++ cannot run the program as a backend that is used from Python has compiled it; empty: it can.
  std::string no_package_because;
  std::optional<bool> verified; ///< nothing: not tried, or no answer
  std::string verify_message;   ///< empty: not tried, or verified; of one verified by repro.py alone, why
  ScriptVerification script;
  std::vector<OtherBackend> others;
  std::vector<AblationRow> ablation;
  std::optional<Explanation> explanation;
  std::optional<GeneratedCode> generated;
  Conditions conditions;
  std::optional<Workaround> workaround;
  std::vector<VersionRow> versions; ///< the one that was reduced under first; empty: no other was asked
  std::string environment;          ///< what torch.utils.collect_env prints; empty: not known
  double verify_seconds = 0, total_seconds = 0;
  std::vector<std::pair<std::string, double>> phases; ///< seconds of each, from start to end
};

/// "Wrong after FoldFrozenLinearBatchnorm.", or what else came of the bisection; empty where there is nothing to say.
std::string bisection_sentence(const ReproFacts &facts);

/// Which of the files beside it repro.cpp reads.
struct ReproFiles {
  bool inputs_from_file = false; ///< literals would be larger than 64 KiB
  bool module_from_file = false; ///< likewise, or the program has no TorchScript source
};

/// NAME.pt, and its inputs as inputs.pt (reduced, candidate) or NAME_inputs.pt (any other name). Both are of one
/// program at any moment: NAME.pt holds the inputs too (but for candidates), and their own file is away while NAME.pt
/// changes. `durable`: they survive the machine's end too.
void save_program(const Program &program, const std::string &folder, bool grad, const std::string &name = "reduced",
                  bool durable = true);
/// The model as it was given, in the place of a reduced one: reduced.pt and inputs.pt.
void save_as_given(const Archive &archive, const std::string &folder);
/// Writes inputs.pt again if it is not what reduced.pt was written with (a killed run left it out, or it was replaced).
/// Returns true if it was written.
bool repair_saved(const std::string &folder);
/// Returns how many operators torch.jit.freeze leaves of the program, the count that the case tables use; -1 if it
/// cannot be frozen.
int operators_after_freezing(const Program &program, const Limits &limits);

/// Returns the line that a repro of this Program prints when, and only when, it has seen this failure:
/// "REPRODUCED accuracy 3f9a2c1b". The number is that of the Program: nothing that the Program prints can hold it.
std::string reproduction_marker(const Program &program, const Signature &signature);

/// Writes repro.cpp and CMakeLists.txt. Does arithmetic and compiles: call it in a sandbox child.
ReproFiles write_repro(const Program &program, const ReproFacts &facts, const std::string &folder);

/// Writes report.md and report.json.
void write_reports(const Program &program, const ReproFacts &facts, const std::string &folder);

struct Verification {
  bool same_failure = false;
  std::string message;                   ///< what happened
  std::string shown = {};                ///< what repro.py printed and raised
  bool with_precompiled_headers = false; ///< repro.cpp was built with headers that an earlier run has precompiled
  std::string compiler = {};             ///< that repro.cpp was built with; empty: CMake's own choice
  bool has_tools = true;                 ///< false: this machine has no CMake or no C++ compiler
};
struct VerifyOptions {
  Repetition repetition;             ///< how often it is run
  std::function<bool()> interrupted; ///< polled; may be empty
  Confinement confinement;           ///< of the backend's checks: what is left of the model is run under it
  /// Called once, in this thread, while the compiler works; may be empty. Returns true if it has put a repro.py into
  /// the folder that was run, and lets the failure happen: asked for a backend that is used from Python.
  std::function<bool()> meanwhile;
  /// Called after `meanwhile`; may be empty. It puts into the folder what was still missing there, and may write
  /// repro.cpp anew.
  std::function<void()> complete;
  std::string python; ///< interpreter of a backend that is used from Python; empty: of another backend
  /// repro.cpp may be built with the quickest compiler that there is: nothing in it but calls. What does not show the
  /// failure then is built once more, with the one that CMake chooses.
  bool any_compiler = false;
};

/// Checks the reduced program under other settings for issue.md, a row each check: its own backend, that with gradients
/// the other way round, TorchScript's other backends. `limits.interrupted` ends it early, with the rows so far.
std::vector<AblationRow> ablate(const ModuleFactory &factory, const ReproFacts &facts, const Limits &limits);
/// Checks if the reduced program fails under TorchInductor too; for inductor's own failures, which parts of it fail, in
/// its worker: some 3 s. For another backend Python starts: 6 s, and 20 s where TorchInductor's header is to be
/// compiled first. `options` are those of the facts' backend. Where TorchInductor cannot be used, there is a row that
/// says why.
std::vector<AblationRow> ablate_inductor(const ModuleFactory &factory, const ReproFacts &facts, const Limits &limits,
                                         const BackendOptions &options);

/// Returns what torch.utils.collect_env prints in that interpreter, without paths and names of the machine; empty where
/// `python` is empty or has no torch. An answer is kept for a day, unless torch, a compiler or the system is another
/// one.
std::string collect_environment(const std::string &python);

/// Writes issue.md, which can be pasted into an issue tracker as it is.
void write_issue(const Program &program, const ReproFacts &facts, const std::string &folder);

} // namespace repro_minify
