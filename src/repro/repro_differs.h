// The function `differs` of a repro: whether one result shows the failure.
#pragma once
#include "repro/predicate.h"

#include <nlohmann/json.hpp>

#include <string>

namespace repro_minify {

/// Returns the function in C++; empty for a failure that no result shows. `complex`: results may be complex.
std::string differs_function(const ReproFacts &facts, bool complex);

/// Returns the values from which repro.py's comparison is written.
nlohmann::json differs_json(const ReproFacts &facts);

} // namespace repro_minify
