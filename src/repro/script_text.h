// repro.py and test_repro.py of one program, in one of the ways to write them.
#pragma once
#include "backends/in_python.h"
#include "core/json.h"
#include "repro_minify/repro.h"

#include <string>
#include <vector>

namespace repro_minify {

// A Program as Python that its users would write, from its TorchScript source.

/// How operators are called.
enum class PythonCalls {
  AsUsual, ///< torch.relu(x), x.add_(1), torch.nn.functional.linear(x, w)
  AsAten,  ///< torch.ops.aten.relu(x): what every operator has
};

struct PythonSource {
  /// Functions, indented by four; methods of one module, `self` their first argument. The last is forward.
  std::string text;
  bool one_function = false;      ///< nothing is read from `self`
  std::vector<std::string> types; ///< "List": what has to be imported from typing
};
/// `script` is what torchscript_source() gives.
PythonSource python_source(const std::string &script, PythonCalls calls);

/// The same as a plain function of another name, where it is one: without `self`.
std::string as_function(const PythonSource &source, const std::string &name);

/// All that a script is written from.
struct ScriptParts {
  /// One way to write a script.
  struct Form {
    PythonCalls calls;
    bool interpreted;       ///< eager is TorchScript's interpreter, and its result is not optimised again
    bool general;           ///< covers several results, and inputs that get no gradient
    bool constants = false; ///< constants of the graph are constants again, not buffers of a module
  };
  const Program &program; ///< with its constants as buffers
  const PythonProgram &text;
  const ReproFacts &facts;
  const PythonCall &call;
  const Form &form;
};

/// Returns repro.py.
std::string script_text(const ScriptParts &parts);
/// Returns test_repro.py: the same as a method of a unit test.
std::string test_text(const ScriptParts &parts);

/// Returns what follows the settings in both: the program, the calls of both sides, and the comparison.
std::string script_body(const ScriptParts &parts, bool is_test);
/// Returns the values of the assertion in repro_body.py.tpl, by which both sides are compared. `several`: `expected`
/// and `found` are lists.
json script_assertion(const ReproFacts &facts, bool several);

// repro.py for the backends that Python reaches: short, and enough by itself.

/// Several ways to write the same, the plainest first: which of them shows the failure is seen when they run.
struct ReproScripts {
  struct Script {
    std::string text;
    std::string statement;    ///< the program, where it is one: as PythonProgram has it
    bool reads_files = false; ///< likewise
    std::string test;         ///< test_repro.py: the same as a unit test; empty where there is none
  };
  std::vector<Script> scripts;
  std::string none_because; ///< why there is no text, one sentence; else empty
};
/// Does arithmetic: call it in a sandbox child.
ReproScripts repro_scripts(const Program &program, const ReproFacts &facts);

/// Lines that are neither empty nor a comment alone.
int lines_of_code(const std::string &script);

// A Program as the text that repro.py has of it, from its TorchScript source.

/// `program` has its constants as buffers. Does arithmetic: call it in a sandbox child. Throws std::exception where it
/// has no Python. `needs_module`: a function will not do.
PythonProgram torchscript_program(const Program &program, const ReproFacts &facts, PythonCalls calls,
                                  bool needs_module);

} // namespace repro_minify
