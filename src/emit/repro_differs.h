// The function `differs` of a repro: whether one result shows the failure.
#pragma once
#include "emit/predicate.h"

#include <nlohmann/json.hpp>

#include <string>

namespace repro_minify {

/// As C++; empty for a failure that no result shows. `complex`: results may be complex.
std::string differs_function(const ReproFacts &facts, bool complex);

/// What repro.py is written from.
nlohmann::json differs_json(const ReproFacts &facts);

} // namespace repro_minify
