// Doubles in JSON, which has no NaN and no infinity: null, "inf" and "-inf" stand for them.
#pragma once
#include <nlohmann/json.hpp>

#include <cmath>

namespace repro_minify {

inline nlohmann::json json_number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? nlohmann::json(nullptr) : nlohmann::json(value > 0 ? "inf" : "-inf");
}

inline double number_from_json(const nlohmann::json &value) {
  if (value.is_number())
    return value.get<double>();
  if (value.is_string())
    return value == "inf" ? INFINITY : -INFINITY;
  return NAN;
}

} // namespace repro_minify
