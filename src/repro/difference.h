// The difference between two programs, line by line.
#pragma once

#include "repro_minify/program.h"

#include <nlohmann/json.hpp>

namespace repro_minify {

/// For the section of report.html: rows of {sign, text, class}, the failing program's lines and the passing one's.
nlohmann::json difference_json(const Program &failing, const Program &passing);

} // namespace repro_minify
