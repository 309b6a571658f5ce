// repro.py and test_repro.py of one program, in one of the ways to write them.
#pragma once
#include "backends/in_python.h"
#include "repro/python_source.h"
#include "repro_minify/repro.h"

#include <string>

namespace repro_minify {

/// One way to write it.
struct ScriptForm {
  PythonCalls calls;
  bool interpreted;       ///< eager is TorchScript's interpreter, and its result is not optimised again
  bool general;           ///< of several results, and of gradients that there are none of
  bool constants = false; ///< what is a constant of the graph is one again, not a buffer of a module
};
/// All that a script is written of. All have to live as long as it is.
struct ScriptParts {
  const Program &program; ///< with its constants as buffers
  const PythonProgram &text;
  const ReproFacts &facts;
  const PythonCall &call;
  const ScriptForm &form;
};

std::string script_text(const ScriptParts &parts);
/// The same as a method of a unit test.
std::string test_text(const ScriptParts &parts);

} // namespace repro_minify
