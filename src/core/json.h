// JSON, and numbers in it: it has no NaN and no infinity, for which null, "inf" and "-inf" stand, and a stranger may
// have written whole numbers as others.
#pragma once
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace repro_minify {

using nlohmann::json;

inline json json_number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? json(nullptr) : json(value > 0 ? "inf" : "-inf");
}

inline double number_from_json(const json &value) {
  if (value.is_number())
    return value.get<double>();
  if (value.is_string())
    return value == "inf" ? HUGE_VAL : -HUGE_VAL;
  return NAN;
}

/// One with a fraction or an exponent may be larger than any integer. Throws std::invalid_argument.
inline std::int64_t integer_from_json(const json &value) {
  if (!value.is_number_integer())
    throw std::invalid_argument("a whole number is expected");
  return value.get<std::int64_t>();
}

inline std::vector<std::int64_t> integers_from_json(const json &list) {
  std::vector<std::int64_t> numbers;
  for (const auto &value : list)
    numbers.push_back(integer_from_json(value));
  return numbers;
}

} // namespace repro_minify
