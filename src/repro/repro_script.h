// repro.py for the backends that Python reaches without a process of its own: short, and enough by itself.
#pragma once
#include "repro_minify/repro.h"

#include <string>
#include <vector>

namespace repro_minify {

/// Several ways to write the same, the plainest first: which of them shows the failure is seen when they run.
struct ReproScripts {
  std::vector<std::string> texts;
  std::string none_because; ///< why there is no text, one sentence; else empty
};
/// Does arithmetic: call it in a sandbox child.
ReproScripts repro_scripts(const Program &program, const ReproFacts &facts);

/// Lines that are neither empty nor a comment alone.
int lines_of_code(const std::string &script);

} // namespace repro_minify
