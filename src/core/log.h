// Logging. spdlog is included by log.cpp alone: torch's headers carry a newer fmt than Debian's spdlog is built on,
// and one translation unit that includes both does not compile.
#pragma once
#include <string>

namespace repro_minify::log {

enum class Level { Debug, Info, Warning, Error, Off };

/// Sends everything at or above `level` to standard error (results go to standard output, never through here).
void set_level(Level level);
void debug(const std::string &message);
void info(const std::string &message);
void warning(const std::string &message);
void error(const std::string &message);

} // namespace repro_minify::log
