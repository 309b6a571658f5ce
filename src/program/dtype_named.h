// The way back from the name of a dtype, as dtype_name() of values.h has it.
#pragma once
#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

namespace repro_minify {

/// The dtype of which `name` is the dtype_name(): "float32" gives kFloat. Nothing where there is none.
std::optional<c10::ScalarType> dtype_named(const std::string &name);

} // namespace repro_minify
