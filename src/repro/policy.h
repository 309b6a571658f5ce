// The style sheet, the script and the content security policy of every page.
#pragma once

#include <nlohmann/json.hpp>

namespace repro_minify {

/// `css`, `js`, and the `policy` that lets a page use these two and nothing else: no connection, no resource.
nlohmann::json head_json();

} // namespace repro_minify
