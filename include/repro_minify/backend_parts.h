// The optional parts of a Backend, beyond what every Backend does. Each part has a field in Backend::parts(), which is
// null where a backend does not have the part.
#pragma once
#include "repro_minify/backend.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Something has to be there before the first check: a helper process, a folder.
class Preparation {
public:
  virtual ~Preparation() = default;
  /// Called once, in the process that starts the checks.
  virtual void start() const = 0;
  /// Returns once what start() has begun is ready: there is something else to do in between. Throws UserError with what
  /// is wrong where it will never be.
  virtual void await_start() const {}
  /// A check had no answer: what start() began may have died since, and is begun again where start() was called.
  /// Throws nothing: what cannot be started has no answers.
  virtual void revive() const {}
};

/// It depends on more than its name, its options and LibTorch, or reaches further than every check may.
class Surroundings {
public:
  virtual ~Surroundings() = default;
  /// Returns what the backend needs, in words ("a C++ compiler").
  virtual std::string needs() const = 0;
  /// Why it cannot be used on this machine, in one sentence; empty if it can. May run programs.
  virtual std::string unusable_because() const { return ""; }
  /// Returns everything that its results depend on: the content of a library or a program, the versions of a compiler
  /// and an interpreter. Called once the backend has started.
  virtual Identity identity() const = 0;
  /// Returns what its checks may reach beyond what every check may; a program of the user's own is not confined.
  virtual Confinement confinement() const = 0;
};

/// It compiles in named steps that can be left out.
class CompilationSteps {
public:
  virtual ~CompilationSteps() = default;
  /// Each name once, in order; empty where this build of LibTorch lets none be left out.
  virtual std::vector<std::string> names() const = 0;
  /// Returns the pass that a step runs, which others may run too: "EliminateDeadCode" for "EliminateDeadCode#3".
  virtual std::string pass_of(const std::string &step) const { return step; }
  /// The same backend with only those of its steps.
  virtual std::unique_ptr<Backend> with(const std::vector<std::string> &names) const = 0;
  /// The same backend with a step switched off by the library's own switch for it, a second opinion on the guilty one;
  /// null where it has none.
  virtual std::unique_ptr<Backend> switched_off(const std::string &) const { return nullptr; }
};

/// How a step works. It decides in which words a report names the step, and which workaround there is.
enum class StepKind {
  Pass,          ///< it rewrites a graph; steps of TorchScript and of runtimes are taken for that too
  Compiler,      ///< all that one compiler does: "aot_eager"
  Setting,       ///< what an entry of a configuration switches: "layout_optimization"
  Decomposition, ///< it replaces an operator by others
  Lowering,      ///< it replaces an operator by generated code; without it, nothing is fused with that operator
};

/// Its library brings a bisector: it says what to leave out, and is told what came of it.
class OwnBisector {
public:
  virtual ~OwnBisector() = default;
  struct Finding {
    std::string guilty; ///< "inductor/lowerings#4": the fourth application of that part
    std::string pass;   ///< "inductor/lowerings": that part
    StepKind kind = StepKind::Pass;
    std::string name = {};    ///< of that application: "gt", "reinplace_inplaceable_ops"; may be empty
    std::string setting = {}; ///< where the kind is Setting: that with which it is right, "layout_optimization=False"
    bool confirmed = false;   ///< with the part left out, and with its applications before this one, it is right
    std::string note;         ///< what else the library knows, in sentences
  };
  /// True if the failure shows under this variant of the backend; `what` describes the variant in words.
  using Fails = std::function<bool(const std::shared_ptr<const Backend> &variant, const std::string &what)>;

  /// True if each step is given what the step before has made: one that raises anything is then to blame for a failure
  /// that is an exception.
  virtual bool is_chain() const { return false; }

  /// Everything that can be left out, in order.
  virtual std::vector<std::string> what_can_go() const = 0;
  /// Nothing if no part is guilty. Throws std::runtime_error where the library's bisector gives up, and what `fails`
  /// throws.
  virtual std::optional<Finding> bisect(const Fails &fails) const = 0;
};

/// It compiles some operators and runs the others as they are.
class PartialCompilation {
public:
  virtual ~PartialCompilation() = default;
  /// Returns the coverage of the program that was compiled last in this process.
  virtual Coverage coverage() const = 0;
};

/// Its C++ depends on the Program: generated kernels.
class GeneratedSource {
public:
  virtual ~GeneratedSource() = default;
  /// Returns what Backend::source() returns, for this Program. Called in a sandbox child.
  virtual BackendSource source_for(const Program &program, const RunSettings &settings) const = 0;
};

/// Its library has settings of its own, which each check can be made under.
class LibrarySettings {
public:
  virtual ~LibrarySettings() = default;
  /// The same backend, with nothing more to start, under these beside its own: KEY=VALUE, as --inductor-config has
  /// them.
  virtual std::shared_ptr<const Backend> under(const std::vector<std::string> &entries) const = 0;
};

// Each of these asks the part, and returns a default for a backend without it.
std::string needs_of(const Backend &backend);
std::string unusable_because(const Backend &backend);
Identity identity_of(const Backend &backend);
Confinement confinement_of(const Backend &backend);
/// Preparation::start() and what follows it; nothing without the part.
void start_backend(const Backend &backend);
void await_backend(const Backend &backend);
void revive_backend(const Backend &backend);
/// Empty where it is one piece.
std::vector<std::string> steps_of(const Backend &backend);

} // namespace repro_minify
