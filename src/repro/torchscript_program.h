// A Program as the text that repro.py has of it, from its TorchScript source.
#pragma once
#include "backends/in_python.h"
#include "repro/python_source.h"
#include "repro_minify/repro.h"

namespace repro_minify {

/// `program` has its constants as buffers. Does arithmetic: call it in a sandbox child. Throws std::exception where it
/// has no Python. `needs_module`: a function will not do.
PythonProgram torchscript_program(const Program &program, const ReproFacts &facts, PythonCalls calls,
                                  bool needs_module);

} // namespace repro_minify
