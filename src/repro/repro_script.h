// repro.py for the backends that Python reaches: short, and enough by itself.
#pragma once
#include "repro_minify/repro.h"

#include <string>
#include <vector>

namespace repro_minify {

struct ReproScript {
  std::string text;
  std::string statement;    ///< the program, where it is one: as PythonProgram has it
  bool reads_files = false; ///< likewise
  std::string test;         ///< test_repro.py: the same as a unit test; empty where there is none
};
/// Several ways to write the same, the plainest first: which of them shows the failure is seen when they run.
struct ReproScripts {
  std::vector<ReproScript> scripts;
  std::string none_because; ///< why there is no text, one sentence; else empty
};
/// Does arithmetic: call it in a sandbox child.
ReproScripts repro_scripts(const Program &program, const ReproFacts &facts);

/// Lines that are neither empty nor a comment alone.
int lines_of_code(const std::string &script);

} // namespace repro_minify
