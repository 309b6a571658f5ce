// Backends that can be used from Python: their calls, their repros, and the interpreter with torch that runs them.
#pragma once

#include "core/json.h"
#include "repro_minify/backend.h"

#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// A program as Python, for repro.py: all but the calls of both sides. Its members are those of emit.py's parts().
struct PythonProgram {
  std::vector<std::string> imports; ///< statements, "import torch" among them
  std::string definition;           ///< statements, which define what `callable` names
  std::string callable;             ///< "f", "Repro().eval()"
  std::string statement;            ///< the program where it is one statement: "x.unfold(0, 2, 1).neg_()"; else empty
  std::vector<std::pair<std::string, std::string>> inputs; ///< name, expression
  bool writes = false;                                     ///< a call may write an input
  bool draws = false;                                      ///< it draws random numbers
  bool is_module = false;                                  ///< an nn.Module, which may have attributes
  bool reads_files = false;                                ///< of those beside it: inputs.pt, attributes.pt, reduced.pt
  bool reads_attributes = false;                           ///< attributes.pt, which is to be written
};

/// How the user of a backend calls it from Python.
struct PythonCall {
  std::vector<std::string> settings;             ///< statements, each a line
  std::vector<std::string> random_settings = {}; ///< likewise, for a program that draws random numbers
  std::string optimised; ///< an expression of `model`, a module or a function; empty where `passes` or `statements` are
  /// Another such expression, of `inputs` too, and what it imports: where the first is right this one may fail.
  std::string without_front_end = {}, import_without_front_end = {};
  std::vector<std::string> passes;          ///< statements that change `graph`
  std::vector<std::string> statements = {}; ///< that make `found`, a list of tensors, of `model` and `inputs`, a tuple
  bool needs_module = false;                ///< a function will not do
  bool plain_interpreter = false;           ///< what comes of it is not optimised again
  bool eager_is_python = false;             ///< it never meets TorchScript's interpreter
};
/// Returns the call of a scripted model, which the profiling executor optimises once `settings` have told it to.
PythonCall scripted_call(std::vector<std::string> settings = {});
/// Returns the call of what `function` makes of a scripted module in eval mode, which is then interpreted.
PythonCall frozen_call(const std::string &function);

/// A backend that is used from Python alone, in a process of its own, which writes programs as Python better than
/// repro/script_text.h does.
class ReproInPython {
public:
  /// The same program compiled ahead of time, which C++ loads as model.pt2.
  struct AheadOfTime {
    std::string package;
    std::string none_because; ///< empty when there is one, and it fails in the same way
  };
  virtual ~ReproInPython() = default;
  /// The ways to write a Program without tensor constants, the plainest first. `facts` are what emit.py reads. Called
  /// in a sandbox child; throws what compile() throws.
  virtual std::vector<PythonProgram> python_programs(const Program &program, const json &facts) const = 0;
  /// True if C++ can load what it compiles. Where it cannot there is no repro.cpp.
  virtual bool is_loaded_by_cpp() const { return false; }
  /// Compiles the program ahead of time, under the same conditions as python_programs(). Asked of one that C++ can
  /// load.
  virtual AheadOfTime ahead_of_time(const Program &, const json &) const { return {}; }
  /// Returns "change", a change of the Program with which eager gives what the backend gives, as in_words() of
  /// explanation.py has it, and "generated", the code that the backend makes of it, as shown() of generated.py has it;
  /// each is null where none is known. Under the same conditions as python_programs(), and the RunSettings in force.
  virtual json explanation(const Program &program, const json &facts) const = 0;
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
  virtual const json &tracker() const = 0;
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
