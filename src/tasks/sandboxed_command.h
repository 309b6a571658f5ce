// Another program, run in a sandbox of its own.
#pragma once
#include "repro_minify/sandbox.h"

#include <chrono>
#include <string>
#include <vector>

namespace repro_minify {

/// `interrupted`: see Limits. The first word is the program, looked up on PATH; no shell reads the words. Exit code
/// 127: it could not be started.
JobEnd run_command(const std::vector<std::string> &words, std::chrono::seconds timeout,
                   const std::function<bool()> &interrupted = {});

} // namespace repro_minify
