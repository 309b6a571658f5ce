// repro.py and test_repro.py of one program, in one of the ways to write them.
#pragma once
#include "backends/in_python.h"
#include "repro/python_source.h"
#include "repro_minify/repro.h"

#include <nlohmann/json.hpp>

#include <string>

namespace repro_minify {

/// One way to write a script.
struct ScriptForm {
  PythonCalls calls;
  bool interpreted;       ///< eager is TorchScript's interpreter, and its result is not optimised again
  bool general;           ///< covers several results, and inputs that get no gradient
  bool constants = false; ///< constants of the graph are constants again, not buffers of a module
};
/// All that a script is written from.
struct ScriptParts {
  const Program &program; ///< with its constants as buffers
  const PythonProgram &text;
  const ReproFacts &facts;
  const PythonCall &call;
  const ScriptForm &form;
};

/// Returns repro.py.
std::string script_text(const ScriptParts &parts);
/// Returns test_repro.py: the same as a method of a unit test.
std::string test_text(const ScriptParts &parts);

/// Returns what follows the settings in both: the program, the calls of both sides, and the comparison.
std::string script_body(const ScriptParts &parts, bool is_test);
/// Returns the statements before the program, imports first: modes, settings of the backend, seeds.
nlohmann::json script_settings(const ScriptParts &parts);
/// Returns the values of the assertion in repro_body.py.tpl, by which both sides are compared. `several`: `expected`
/// and `found` are lists.
nlohmann::json script_assertion(const ReproFacts &facts, bool several);

} // namespace repro_minify
