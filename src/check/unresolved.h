// Verdicts that say nothing of the backend. Internal to src/check.
#pragma once
#include "repro_minify/check.h"

#include <string>
#include <system_error>

namespace repro_minify {

Verdict unresolved(std::string message);

/// Returns an unresolved Verdict that is not to be remembered: the check had no answer.
Verdict without_answer(const std::string &why);

/// True if an exception with that message says that the limit on this process's memory was met: then the sandbox tells
/// what it means. LibTorch has no class of its own for it.
bool is_past_the_limit(const std::string &message);

/// True for a lack of means (no thread, no process, no room, a file that cannot be read) that may be over in a moment.
bool is_want_of_means(const std::error_code &code);

} // namespace repro_minify
