// A Backend turns a Program's module into something that runs optimised. One file each in src/backends/, one registry.
#pragma once
#include "repro_minify/identity.h"
#include "repro_minify/sandbox.h"

#include <torch/csrc/jit/api/module.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

struct Program;
struct RunSettings;

/// How much a sentence that the library has for its caller matters.
enum class Severity { Detail, Info, Warning, Error };

/// Told one sentence, or a few lines. May be empty.
using MessageSink = std::function<void(Severity, const std::string &)>;

/// The options of a backend. Each backend uses those that concern it.
struct BackendOptions {
  std::string python;                    ///< interpreter for backends that need Python; empty: found by themselves
  std::vector<std::string> pythons = {}; ///< "BACKEND=PYTHON": the interpreter of one backend
  std::vector<std::string> backend_options = {}; ///< "KEY=VALUE" for a backend of torch.compile, or a recipe
  std::vector<std::string> inductor_config;      ///< "key=value", as torch._inductor.config names them
  std::vector<std::string> libraries;            ///< shared libraries of operators that are no part of PyTorch
  std::vector<std::string> imports;              ///< Python modules that register operators: "pkg.module", "file.py"
  std::vector<std::string> skipped_stages;       ///< names of Backend::steps()
  std::vector<std::string> dumped_stages;        ///< their results are printed on standard error
  bool emulate_precision_casts = false;          ///< round to 16 bits after each operator inside a fused kernel
  std::string inject;                            ///< a fault on purpose; empty: none
  std::string dump_file; ///< where dumped stages are appended, a file that exists; empty: standard error
  MessageSink message;   ///< told what is odd about the backend itself, in the reducing process
  std::function<bool()> interrupted = {}; ///< polled while it starts; true ends that: throws Interrupted. May be empty

  void say(Severity severity, const std::string &text) const {
    if (message)
      message(severity, text);
  }
};
/// Everything in the options that a result can depend on.
Identity identity_of(const BackendOptions &options);

/// Runs the optimised program once: arguments in, forward's result out. May be called several times.
using Compiled = std::function<c10::IValue(std::vector<c10::IValue>)>;

/// How much of a program was compiled, for a backend that compiles some operators and runs the others as they are.
struct Coverage {
  int compiled = 0;
  std::map<std::string, int> not_compiled; ///< "aten::conv2d": how many
  std::string because;                     ///< why nothing was compiled at all; empty where something was
};

/// How a user of the backend would write it in C++; becomes part of repro.cpp.
struct BackendSource {
  std::vector<std::string> includes; ///< "torch/csrc/jit/api/module.h"
  /// The body of `c10::IValue run_optimised(torch::jit::Module module, ...)` before the first call. It may use
  /// `module`, and must define `call`, something callable with std::vector<c10::IValue>.
  std::string prepare = {};
  /// Functions that `prepare` needs, at file scope: generated kernels.
  std::string file_scope = {};
  /// Libraries that CMakeLists.txt links beside LibTorch ("dl").
  std::vector<std::string> libraries = {};
  /// Other files beside repro.cpp: name, text.
  std::vector<std::pair<std::string, std::string>> files = {};
};

/// Which gradients what a backend makes can give.
enum class Gradients {
  All,
  OfInputs,   ///< parameters become constants, which have none
  IfItHasAny, ///< likewise, and it is made for inference: its results may have no way back at all
};

/// The properties of a backend that its caller has to know.
struct BackendTraits {
  bool autocast = false; ///< it is about autocast: both sides run under it, asked for or not
  /// The callable wants to own its arguments (TorchInductor's boxed calling convention): it is then given the only
  /// references to them, and what it leaves in them is not compared.
  bool boxed_call = false;
  /// compile() gives the module itself back, so that buffers it writes to can be observed; false for one that compiles
  /// a copy.
  bool runs_the_module = false;
  Gradients gradients = Gradients::All;
  /// How long its optimised side may take at least, in seconds, before anybody calls it a hang: compilers of its own
  /// take their time.
  double patience_seconds = 240;
  bool needs_eval = false; ///< it takes models in eval mode only (freezing does)
  /// It takes a flat graph only: the first check is then of the flattened model, not of the archive.
  bool needs_flat_graph = false;
  /// It compiles what was saved and loaded again, where TorchScript drops writes to what it takes for fresh.
  bool loads_what_was_saved = false;
  /// Later calls can differ from the first (a profiling executor optimises after it has watched a call).
  bool needs_several_calls = true;
};

class Preparation;
class Surroundings;
class CompilationSteps;
class OwnBisector;
class PartialCompilation;
class GeneratedSource;
class ReproInPython;
class LibrarySettings;
class OwnTracker;
struct PythonCall;

/// The optional parts of a backend (repro_minify/backend_parts.h), null where it has none. The pointers live as long as
/// the backend.
struct BackendParts {
  const Preparation *preparation = nullptr;
  const Surroundings *surroundings = nullptr;
  const CompilationSteps *steps = nullptr;
  const OwnBisector *bisector = nullptr;
  const PartialCompilation *partial = nullptr;
  const GeneratedSource *generated = nullptr;
  const ReproInPython *repro_in_python = nullptr; ///< it is used from Python alone (backends/in_python.h)
  const LibrarySettings *library_settings = nullptr;
  const OwnTracker *tracker = nullptr;     ///< it is no part of PyTorch (likewise)
  const PythonCall *python_call = nullptr; ///< Python reaches it too (likewise)
};

class Backend {
public:
  virtual ~Backend() = default;
  /// Returns the name that the command line uses ("pass:peephole").
  virtual std::string name() const = 0;
  /// One line for `repro-minify backends`.
  virtual std::string summary() const = 0;
  /// Returns the name that the report uses, as in "wrong result under torch::jit::freeze".
  virtual std::string title() const = 0;
  /// Compiles a module (method forward; in eval mode, but for --train) that has no other user. Called in a sandbox
  /// child, may throw anything.
  virtual Compiled compile(torch::jit::Module module) const = 0;
  virtual BackendSource source() const = 0;
  virtual BackendTraits traits() const { return {}; }
  virtual BackendParts parts() const { return {}; }
};

/// The backend of that name ("freeze", "pass:peephole,cse"). Throws UserError for an unknown one, with what is known.
std::unique_ptr<Backend> make_backend(const std::string &name, const BackendOptions &options = {});

/// Something that can be chosen by its name: a backend, or a pass.
struct NamedRow {
  std::string name, summary;
};
/// Every name that make_backend takes (for `pass:` each pass), in the order of the documentation.
std::vector<NamedRow> list_backends();

} // namespace repro_minify
