// Two values as a picture needs them. Arithmetic: call it in a sandbox child.
#pragma once
#include "check/compare_runs.h"
#include "core/json.h"
#include "repro_minify/analysis.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>

namespace repro_minify {

/// `found`: null where there is none.
ShownValue shown_value(const c10::IValue &expected, const c10::IValue *found, const ShowOptions &show);

/// Returns by how much two elements differ: 0 if they are the same, NaN if the difference is not finite.
double element_error(double expected, double found);

json to_json(const ShownValue &value);
ShownValue shown_value_from(const json &value);

// The work of both_sides(), for a child that has checked the same program before.

/// Returns both sides as JSON in one line, for both_sides_from(). Runs the backend in the process that calls it.
std::string show_here(const ModuleFactory &factory, const Backend &backend, const CheckOptions &options,
                      const ShowOptions &show);
/// Throws json::exception.
BothSides both_sides_from(const std::string &text);

// Expected against found: the numbers of a small value, of a large one a map and a histogram of its errors.

/// For values.html.tpl. `most`: as many numbers are shown, and the map and the histogram where there are more.
json values_json(const ShownValue &value, size_t most);

// The elements of a small tensor as a person writes them.

constexpr std::int64_t most_elements_in_text = 16;

/// "[[1, 2], [3, 4.5]]", each number as short as it can be; empty for a tensor of more than most_elements_in_text
/// elements, or one whose elements cannot be read as they are (sparse, quantised, complex).
std::string elements_text(const at::Tensor &tensor);

} // namespace repro_minify
