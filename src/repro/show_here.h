// The work of both_sides(), for a child that has checked the same program before.
#pragma once

#include "check/compare_runs.h"
#include "repro_minify/both_sides.h"

#include <string>

namespace repro_minify {

/// The result of call number `call` of a freshly compiled instance. Throws what the backend throws.
Observed run_optimised(const CheckContext &context, int call);

/// Returns both sides as JSON in one line, for both_sides_from(). Runs the backend in the process that calls it.
std::string show_here(const ModuleFactory &factory, const Backend &backend, const CheckOptions &options,
                      const ShowOptions &show);
/// Throws nlohmann::json::exception.
BothSides both_sides_from(const std::string &text);

} // namespace repro_minify
