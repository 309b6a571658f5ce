// Two values as a picture needs them. Arithmetic: call it in a sandbox child.
#pragma once

#include "repro_minify/both_sides.h"

#include <ATen/core/ivalue.h>
#include <nlohmann/json_fwd.hpp>

namespace repro_minify {

/// `found`: null where there is none.
ShownValue shown_value(const c10::IValue &expected, const c10::IValue *found, const ShowOptions &show);

/// Returns by how much two elements differ: 0 if they are the same, NaN if the difference is not finite.
double element_error(double expected, double found);

nlohmann::json to_json(const ShownValue &value);
ShownValue shown_value_from(const nlohmann::json &value);

} // namespace repro_minify
