#include "repro/shown_value.h"

#include "core/number_text.h"
#include "core/text.h"

#include <algorithm>
#include <cmath>

namespace repro_minify {
namespace {

/// 0 (the same) to 9 (the largest error of this value), by its logarithm: six decades below the largest is 1. "x" for
/// what is no number on one side alone.
std::string shade_of(double error, double largest) {
  if (std::isnan(error))
    return "x";
  if (error == 0 || largest <= 0)
    return "0";
  const double decades = std::log10(largest / error);
  return std::to_string(std::clamp(9 - static_cast<int>(std::lround(decades * 8 / 6)), 1, 9));
}

/// "[2, 3]", and of a complex number which part of it.
std::string place_of(const ShownValue &value, size_t number) {
  const auto index = static_cast<std::int64_t>(number);
  if (!value.is_complex)
    return position_text(index, value.sizes);
  return position_text(index / 2, value.sizes) + (index % 2 == 0 ? " real" : " imaginary");
}

json numbers_json(const ShownValue &value, size_t most) {
  json rows = json::array();
  double largest = 0;
  const size_t count = std::min(most, value.expected.size());
  for (size_t i = 0; i < count && i < value.found.size(); ++i)
    if (const double error = element_error(value.expected[i], value.found[i]); std::isfinite(error))
      largest = std::max(largest, error);
  for (size_t i = 0; i < count; ++i) {
    const bool has_found = i < value.found.size();
    const double error = has_found ? element_error(value.expected[i], value.found[i]) : 0;
    const std::string shade = shade_of(error, largest);
    const auto [expected, found] =
        differing_texts(value.expected[i], has_found ? value.found[i] : value.expected[i], 6);
    rows.push_back({{"at", place_of(value, i)},
                    {"expected", expected},
                    {"found", has_found ? found : ""},
                    {"error", has_found && error != 0 ? rounded_text(error) : ""},
                    {"shade", shade}});
  }
  return rows;
}

json map_json(const ShownValue &value) {
  if (value.errors.empty() || value.decades.empty())
    return nullptr;
  double largest = 0;
  for (const double error : value.errors)
    if (std::isfinite(error))
      largest = std::max(largest, error);
  constexpr int side = 10;
  json cells = json::array();
  for (int row = 0; row < value.rows; ++row)
    for (int column = 0; column < value.columns; ++column) {
      const double error = value.errors[static_cast<size_t>(row * value.columns + column)];
      if (error != 0) // what is the same is the ground that the others stand on
        cells.push_back({{"x", column * side}, {"y", row * side}, {"shade", shade_of(error, largest)}});
    }
  return {{"width", value.columns * side}, {"height", value.rows * side},      {"rows", value.rows},
          {"columns", value.columns},      {"largest", rounded_text(largest)}, {"cells", cells}};
}

json bar(const std::string &what, std::int64_t count, std::int64_t of) {
  constexpr double width = 240;
  const double length = of > 0 ? width * static_cast<double>(count) / static_cast<double>(of) : 0;
  return {{"what", what}, {"count", count}, {"length", std::max(count > 0 ? 1L : 0L, std::lround(length))}};
}

json histogram_json(const ShownValue &value) {
  if (value.found.empty())
    return nullptr;
  json bars = json::array({bar("the same", value.equal, value.elements)});
  for (size_t i = 0; i < value.decades.size(); ++i)
    bars.push_back(bar("off by 1e" + std::to_string(value.first_decade + static_cast<int>(i)) + " or more",
                       value.decades[i], value.elements));
  if (value.not_finite > 0)
    bars.push_back(bar("NaN or Inf on one side", value.not_finite, value.elements));
  return {{"bars", bars}};
}

} // namespace

json values_json(const ShownValue &value, size_t most) {
  const bool is_large = value.elements > static_cast<std::int64_t>(most);
  return {{"elements", value.elements},
          {"numbers", numbers_json(value, most)},
          {"shown", std::min<std::int64_t>(value.elements, static_cast<std::int64_t>(most))},
          {"is_large", is_large},
          {"map", is_large ? map_json(value) : json(nullptr)},
          {"histogram", is_large ? histogram_json(value) : json(nullptr)}};
}

} // namespace repro_minify
