// The values that the reports for people show: report.md and report.html are two forms of them.
#pragma once
#include "repro_minify/repro.h"

#include <nlohmann/json.hpp>

#include <string>

namespace repro_minify {

/// Values for render(): report.md.tpl has a hole or a section for each.
nlohmann::json report_values(const Program &program, const ReproFacts &facts, const std::string &folder);

} // namespace repro_minify
