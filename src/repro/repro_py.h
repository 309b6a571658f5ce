// repro.py and model.pt2, for backends that are used from Python.
#pragma once
#include "repro_minify/repro.h"

#include <nlohmann/json.hpp>
#include <string>

namespace repro_minify {

/// Returns the facts of the failure that emit.py reads.
nlohmann::json facts_for_python(const Program &program, const ReproFacts &facts);

/// Writes repro.py and what it reads, where the backend is one of Python.
void write_repro_py(const Program &program, const ReproFacts &facts, const std::string &folder);

/// Why there can be no write_package() of such a failure; empty: there may be one.
std::string why_no_package(const ReproFacts &facts);
/// model.pt2, which repro.cpp loads where the backend is used from Python: the program compiled ahead of time. Returns
/// why there is none; empty if it is there and fails in the same way. Compiles for eight seconds: call it in a sandbox
/// child.
std::string write_package(const Program &program, const ReproFacts &facts, const std::string &folder);
/// repro.cpp where there is none: it says why, and runs repro.py.
void write_runner(const ReproFacts &facts, const std::string &folder);

} // namespace repro_minify
