// Expected against found: the numbers of a small value, of a large one a map and a histogram of its errors.
#pragma once

#include "repro_minify/both_sides.h"

#include <nlohmann/json.hpp>

namespace repro_minify {

/// For values.html.tpl. `most`: as many numbers are shown, and the map and the histogram where there are more.
nlohmann::json values_json(const ShownValue &value, size_t most);

} // namespace repro_minify
