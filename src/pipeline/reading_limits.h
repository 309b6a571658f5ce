// How long, and with how much memory, a stranger's files are read.
#pragma once
#include "repro_minify/minify_options.h"

namespace repro_minify {

/// At least one millisecond: none would mean no limit.
std::chrono::milliseconds limit_of(double seconds);

/// Bytes that a check may add.
std::uint64_t memory_limit(const MinifyOptions &options);

/// To read the model and its inputs is a check like any other.
Limits reading_limits(const MinifyOptions &options);

} // namespace repro_minify
