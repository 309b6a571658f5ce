// How repro.py compares what both sides give.
#pragma once
#include "repro_minify/repro.h"

#include <nlohmann/json.hpp>

namespace repro_minify {

/// The values of the assertion in repro_body.py.tpl. `several`: `expected` and `found` are lists.
nlohmann::json script_assertion(const ReproFacts &facts, bool several);

} // namespace repro_minify
