// report.json, the report for scripts.
#pragma once
#include "repro_minify/repro.h"

#include <nlohmann/json.hpp>

#include <string>

namespace repro_minify {

/// docs/reference.md names its keys. `folder`: which files there are is looked up there.
nlohmann::json report_json(const Program &program, const ReproFacts &facts, const std::string &folder);

} // namespace repro_minify
