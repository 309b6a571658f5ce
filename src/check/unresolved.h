// Verdicts that say nothing of the backend. Internal to src/check.
#pragma once
#include "repro_minify/check.h"

#include <string>
#include <system_error>

namespace repro_minify {

Verdict unresolved(std::string message);

/// Likewise, and not to be remembered.
Verdict without_answer(const std::string &why);

/// Whether an exception with that message says that the limit on this process's memory was met: then the sandbox tells
/// what it means. LibTorch has no class of its own for it.
bool is_past_the_limit(const std::string &message);

/// No thread, no process, no room, a file that cannot be read: nobody's fault but the moment's.
bool is_want_of_means(const std::error_code &code);

} // namespace repro_minify
