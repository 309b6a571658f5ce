// repro.py, for backends that are used from Python.
#pragma once
#include "repro_minify/repro.h"

#include <string>

namespace repro_minify {

/// Writes repro.py and what it reads, where the backend is one of Python.
void write_repro_py(const Program &program, const ReproFacts &facts, const std::string &folder);

} // namespace repro_minify
