// A Backend turns a Program's module into something that runs optimised. One file each in src/backends/, one registry.
#pragma once
#include "repro_minify/confinement.h"
#include "repro_minify/identity.h"
#include "repro_minify/severity.h"

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

/// What a backend can be told. Each takes what concerns it.
struct BackendOptions {
  std::string python;                       ///< interpreter for backends that need Python; empty: found by themselves
  std::vector<std::string> inductor_config; ///< "key=value", as torch._inductor.config names them
  std::vector<std::string> libraries;       ///< shared libraries of operators that are no part of PyTorch
  std::vector<std::string> skipped_stages;  ///< names of Backend::steps()
  std::vector<std::string> dumped_stages;   ///< their results are printed on standard error
  bool emulate_precision_casts = false;     ///< round to 16 bits after each operator inside a fused kernel
  std::string inject;                       ///< a fault on purpose; empty: none
  std::string dump_file; ///< where dumped stages are appended, a file that exists; empty: standard error
  MessageSink message;   ///< told what is odd about the backend itself, in the reducing process

  void say(Severity severity, const std::string &text) const {
    if (message)
      message(severity, text);
  }
};
/// Everything in the options that a result can depend on.
Identity identity_of(const BackendOptions &options);

/// Runs the optimised program once: arguments in, forward's result out. May be called several times.
using Compiled = std::function<c10::IValue(std::vector<c10::IValue>)>;

/// What came of a program in a backend that compiles some operators and runs the others as they are.
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

class Backend {
public:
  virtual ~Backend() = default;
  /// As on the command line ("pass:peephole").
  virtual std::string name() const = 0;
  /// One line for `repro-minify backends`.
  virtual std::string summary() const = 0;
  /// What the report calls it, as in "wrong result under torch::jit::freeze".
  virtual std::string title() const = 0;
  /// Compiles a module (eval mode, method forward) that nobody else uses. Called in a sandbox child, may throw
  /// anything.
  virtual Compiled compile(torch::jit::Module module) const = 0;
  /// Of what was compiled last; nothing from a backend that does not say.
  virtual std::optional<Coverage> coverage() const { return std::nullopt; }
  virtual BackendSource source() const = 0;
  /// The same for a Program, where it depends on that (generated kernels). Called in a sandbox child.
  virtual BackendSource source_for(const Program &, const RunSettings &) const { return source(); }
  /// The named steps of its compilation, each name once, in order; empty where it is one piece.
  virtual std::vector<std::string> steps() const { return {}; }
  /// The same backend with only those of its steps, or null where it is one piece.
  virtual std::unique_ptr<Backend> with_steps(const std::vector<std::string> &) const { return nullptr; }
  /// Called once before any check, in the process that starts them: the place to start a helper process.
  virtual void start() const {}
  /// Returns once what start() has begun is ready: there is something else to do in between. Throws UserError with what
  /// is wrong where it will never be.
  virtual void await_start() const {}
  /// A check had no answer: what start() began may have died since, and is begun again where start() was called.
  /// Throws nothing: what cannot be started has no answers.
  virtual void revive() const {}
  /// What its results depend on beside its name, its options and LibTorch: the content of a library or a program, the
  /// versions of a compiler and an interpreter. Once it has started.
  virtual Identity identity() const { return {}; }
  /// What its checks may reach beside what every check may; a program of the user's own is not confined.
  virtual Confinement confinement() const { return {}; }
  /// What it needs beside LibTorch ("a C++ compiler"); empty: nothing.
  virtual std::string needs() const { return ""; }
  /// Why it cannot be used on this machine, in one sentence; empty if it can. May run programs.
  virtual std::string unusable_because() const { return ""; }
  /// Whether the backend is about autocast: both sides run under it, asked for or not.
  virtual bool autocast() const { return false; }
  /// Whether the callable wants to own its arguments (TorchInductor's boxed calling convention): it is then given the
  /// only references to them, and what it leaves in them is not compared.
  virtual bool boxed_call() const { return false; }
  /// Whether compile() gives the module itself back, so that buffers it writes to can be observed; false for one that
  /// compiles a copy.
  virtual bool runs_the_module() const { return false; }
  virtual Gradients gradients() const { return Gradients::All; }
  /// How long its optimised side may take at least before anybody calls it a hang: compilers of its own take their
  /// time.
  virtual double patience_seconds() const { return 120; }
  /// Whether it takes models in eval mode only (freezing does).
  virtual bool needs_eval() const { return false; }
  /// Whether it takes a flat graph only: the first check is then of the flattened model, not of the archive.
  virtual bool needs_flat_graph() const { return false; }
  /// Whether later calls can differ from the first (a profiling executor optimises after it has watched a call).
  virtual bool needs_several_calls() const { return true; }
};

/// The backend of that name ("freeze", "pass:peephole,cse"). Throws UserError for an unknown one, with what is known.
std::unique_ptr<Backend> make_backend(const std::string &name, const BackendOptions &options = {});

struct BackendRow {
  std::string name, summary;
};
/// Every name that make_backend takes (for `pass:` each pass), in the order of the documentation.
std::vector<BackendRow> list_backends();

} // namespace repro_minify
