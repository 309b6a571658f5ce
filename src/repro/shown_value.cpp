#include "repro/shown_value.h"

#include "check/compare_tensors.h"
#include "check/compare_values.h"
#include "program/formula.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace repro_minify {
namespace {

/// Dense numbers on the CPU; undefined for what is none.
at::Tensor numbers_of(const c10::IValue &value) {
  const auto tensor = as_tensor(value);
  return tensor ? real_view(plain(*tensor)).to(at::kCPU).to(at::kDouble).contiguous() : at::Tensor();
}

std::vector<double> first_of(const at::Tensor &numbers, std::int64_t most) {
  const double *data = numbers.const_data_ptr<double>();
  return {data, data + std::min<std::int64_t>(most, numbers.numel())};
}

class Errors {
public:
  Errors(const at::Tensor &expected, const at::Tensor &found, ShownValue &shown)
      : expected_(expected.const_data_ptr<double>()), found_(found.const_data_ptr<double>()), size_(expected.numel()),
        shown_(shown) {}

  void count() {
    std::map<int, std::int64_t> decades;
    for (std::int64_t i = 0; i < size_; ++i) {
      const double error = element_error(expected_[i], found_[i]);
      if (error == 0)
        ++shown_.equal;
      else if (std::isnan(error))
        ++shown_.not_finite;
      else
        ++decades[static_cast<int>(std::floor(std::log10(error)))];
    }
    if (decades.empty())
      return;
    shown_.first_decade = decades.begin()->first;
    shown_.decades.assign(static_cast<size_t>(decades.rbegin()->first - shown_.first_decade) + 1, 0);
    for (const auto &[decade, count] : decades)
      shown_.decades[static_cast<size_t>(decade - shown_.first_decade)] = count;
  }

  void map(std::int64_t width, int cells) {
    if (size_ == 0)
      return;
    const std::int64_t height = size_ / width;
    shown_.rows = static_cast<int>(std::min<std::int64_t>(height, cells));
    shown_.columns = static_cast<int>(std::min<std::int64_t>(width, cells));
    shown_.errors.assign(static_cast<size_t>(shown_.rows) * static_cast<size_t>(shown_.columns), 0.0);
    for (std::int64_t i = 0; i < size_; ++i) {
      const std::int64_t row = i / width * shown_.rows / height, column = i % width * shown_.columns / width;
      double &cell = shown_.errors[static_cast<size_t>(row * shown_.columns + column)];
      const double error = element_error(expected_[i], found_[i]);
      cell = std::isnan(error) || error > cell ? error : cell; // what is NaN stays: nothing is larger
    }
  }

private:
  const double *expected_, *found_;
  const std::int64_t size_;
  ShownValue &shown_;
};

json numbers_json(const std::vector<double> &numbers) {
  json list = json::array();
  for (const double number : numbers)
    list.push_back(json_number(number));
  return list;
}

std::vector<double> numbers_from(const json &list) {
  std::vector<double> numbers;
  for (const auto &number : list)
    numbers.push_back(number_from_json(number));
  return numbers;
}

/// Reads the elements one after the other.
std::string nested(const std::vector<double> &elements, std::size_t &next, at::IntArrayRef sizes) {
  if (sizes.empty())
    return number_text(elements[next++]);
  std::string text;
  for (std::int64_t i = 0; i < sizes[0]; ++i)
    text += (i > 0 ? ", " : "") + nested(elements, next, sizes.slice(1));
  return "[" + text + "]";
}

} // namespace

double element_error(double expected, double found) {
  if (expected == found || (std::isnan(expected) && std::isnan(found)))
    return 0;
  const double error = std::abs(expected - found);
  return std::isfinite(error) ? error : std::numeric_limits<double>::quiet_NaN();
}

ShownValue shown_value(const c10::IValue &expected, const c10::IValue *found, const ShowOptions &show) {
  ShownValue shown;
  const at::Tensor left = numbers_of(expected);
  if (!left.defined())
    return shown;
  shown.is_complex = as_tensor(expected)->is_complex();
  shown.sizes = left.sizes().vec();
  if (shown.is_complex)
    shown.sizes.pop_back();
  shown.elements = left.numel();
  shown.expected = first_of(left, show.elements);
  const at::Tensor right = found ? numbers_of(*found) : at::Tensor();
  if (!right.defined() || right.sizes() != left.sizes())
    return shown;
  shown.found = first_of(right, show.elements);
  Errors errors(left, right, shown);
  errors.count();
  errors.map(left.dim() > 0 ? left.size(-1) : 1, show.cells);
  return shown;
}

json to_json(const ShownValue &value) {
  return {{"sizes", value.sizes},
          {"is_complex", value.is_complex},
          {"elements", value.elements},
          {"expected", numbers_json(value.expected)},
          {"found", numbers_json(value.found)},
          {"errors", numbers_json(value.errors)},
          {"rows", value.rows},
          {"columns", value.columns},
          {"decades", value.decades},
          {"first_decade", value.first_decade},
          {"equal", value.equal},
          {"not_finite", value.not_finite}};
}

ShownValue shown_value_from(const json &value) {
  ShownValue shown;
  shown.sizes = value.at("sizes").get<std::vector<std::int64_t>>();
  shown.is_complex = value.at("is_complex");
  shown.elements = value.at("elements");
  shown.expected = numbers_from(value.at("expected"));
  shown.found = numbers_from(value.at("found"));
  shown.errors = numbers_from(value.at("errors"));
  shown.rows = value.at("rows");
  shown.columns = value.at("columns");
  shown.decades = value.at("decades").get<std::vector<std::int64_t>>();
  shown.first_decade = value.at("first_decade");
  shown.equal = value.at("equal");
  shown.not_finite = value.at("not_finite");
  return shown;
}

std::string elements_text(const at::Tensor &tensor) {
  const auto elements = elements_of(tensor, most_elements_in_text);
  std::size_t next = 0;
  return elements && !elements->empty() ? nested(*elements, next, tensor.sizes()) : "";
}

} // namespace repro_minify
