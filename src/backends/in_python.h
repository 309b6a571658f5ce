// Backends that can be used from Python: their calls, their repros, and the interpreter with torch that runs them.
#pragma once

#include "repro_minify/backend.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

// The interface of backends that can be used from Python: their calls and repros in Python.

struct PythonRepro {
  std::string text;         ///< repro.py
  bool reads_files = false; ///< it reads inputs.pt and attributes.pt
};

/// The same program compiled ahead of time, which C++ loads as model.pt2.
struct AheadOfTime {
  std::string package;
  std::string none_because; ///< empty when there is one, and it fails in the same way
};

/// How the user of a backend calls it from Python.
struct PythonCall {
  std::vector<std::string> settings;             ///< statements, each a line
  std::vector<std::string> random_settings = {}; ///< likewise, for a program that draws random numbers
  std::string optimised;           ///< an expression of `model`, a module or a function; empty where `passes` are
  std::vector<std::string> passes; ///< statements that change `graph`
  bool needs_module = false;       ///< a function will not do
  bool plain_interpreter = false;  ///< what comes of it is not optimised again
  bool eager_is_python = false;    ///< it never meets TorchScript's interpreter
};
/// Returns the call of a scripted model, which the profiling executor optimises once `settings` have told it to.
PythonCall scripted_call(std::vector<std::string> settings = {});
/// Returns the call of what `function` makes of a scripted module in eval mode, which is then interpreted.
PythonCall frozen_call(const std::string &function);

/// A backend that is used from Python alone, in a process of its own. Where no PythonCall comes to its failure, it
/// writes a repro.py that does.
class ReproInPython {
public:
  virtual ~ReproInPython() = default;
  /// repro.py for a Program without tensor constants. `facts` are what emit.py reads. May take minutes. Called in a
  /// sandbox child; throws what compile() throws.
  virtual PythonRepro python_repro(const Program &program, const nlohmann::json &facts) const = 0;
  /// Short forms of repro.py, the plainest first, for one that no PythonCall describes. Likewise.
  virtual std::vector<std::string> scripts(const Program &, const nlohmann::json &) const { return {}; }
  /// Compiles the program ahead of time, under the same conditions as python_repro().
  virtual AheadOfTime ahead_of_time(const Program &program, const nlohmann::json &facts) const = 0;
  /// The interpreter that repro.py is run with, once the backend has started.
  virtual const std::string &python() const = 0;
  /// The PyTorch in it.
  virtual const std::string &torch_version() const = 0;
};

/// It is the work of another project than PyTorch, where its failures are reported.
class OwnTracker {
public:
  virtual ~OwnTracker() = default;
  /// Returns what a recipe says of itself (recipe.py), once the backend has started: "title", "versions", "tracker".
  virtual const nlohmann::json &tracker() const = 0;
  /// The files that its runtime loads for this program, by name. Called in a sandbox child; throws what compile()
  /// throws.
  virtual std::vector<std::pair<std::string, std::string>> artefacts(const Program &program) const = 0;
};

// The Python that has torch, and the Python files of ours that it runs.

/// A Python file of this installation, else of the source tree.
std::string script_of_ours(const std::string &installed, const std::string &in_source);
/// The interpreter to use: `given`, else that of the virtual environment LibTorch lies in, else python3; empty if none
/// of them has torch. Imports nothing.
std::string find_python_with_torch(const std::string &given);
/// Returns the folders that an interpreter reads: its own with its packages, its virtual environment's, the user's, and
/// those of PYTHONPATH.
std::vector<std::string> folders_of_python(const std::string &python);

} // namespace repro_minify
