// The function `differs` of a repro: whether one result shows the failure.
#pragma once
#include "repro/predicate.h"

#include <nlohmann/json.hpp>

#include <string>

namespace repro_minify {

/// The kinds that a program's results may be of, beside tensors of numbers that are not complex.
struct ReturnedKinds {
  bool complex = false; ///< complex tensors
  bool plain = false;   ///< values that are no tensors: numbers, text
};

/// Returns the function in C++; empty for a failure that no result shows.
std::string differs_function(const ReproFacts &facts, const ReturnedKinds &returned);

/// Returns a condition in C++ on the tensors `expected` and `found` that holds where the failure does not show; empty
/// for a rule that takes more than one call. Complex and quantised tensors are not for it.
std::string same_condition(const ReproFacts &facts);

/// Returns the values from which repro.py's comparison is written.
nlohmann::json differs_json(const ReproFacts &facts);

} // namespace repro_minify
