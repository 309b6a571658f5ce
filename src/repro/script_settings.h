// The statements of repro.py that stand before the program: imports, modes, seeds.
#pragma once
#include "repro/script_text.h"

#include <nlohmann/json.hpp>

namespace repro_minify {

/// Returns them as a list of texts.
nlohmann::json script_settings(const ScriptParts &parts);

} // namespace repro_minify
