// Numbers in generated C++.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace repro_minify {

/// Returns `value` as a C++ expression of any integral type that holds it. In C++ a literal has no sign: the least
/// number has none.
inline std::string integer_literal(std::int64_t value) {
  return value == std::numeric_limits<std::int64_t>::min() ? "(-9223372036854775807 - 1)" : std::to_string(value);
}

} // namespace repro_minify
