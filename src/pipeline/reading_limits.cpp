#include "pipeline/reading_limits.h"

#include "tasks/limits.h"

#include <algorithm>
#include <cmath>

namespace repro_minify {

std::chrono::milliseconds limit_of(double seconds) {
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(std::ceil(seconds * 1000))));
}

std::uint64_t memory_limit(const MinifyOptions &options) {
  return options.memory_bytes > 0 ? options.memory_bytes : memory_that_fits();
}

Limits reading_limits(const MinifyOptions &options) {
  Limits limits = generous_limits();
  if (options.timeout_seconds > 0)
    limits.timeout = limit_of(options.timeout_seconds);
  limits.memory_bytes = memory_limit(options);
  limits.interrupted = options.listener.interrupted;
  return limits;
}

} // namespace repro_minify
