// How much a sentence that the library has for its caller matters.
#pragma once
#include <functional>
#include <string>

namespace repro_minify {

enum class Severity { Detail, Info, Warning, Error };

/// Told one sentence, or a few lines. May be empty.
using MessageSink = std::function<void(Severity, const std::string &)>;

} // namespace repro_minify
