// Where both sides part, for people.
#pragma once
#include "repro_minify/analysis.h"

#include <string>

namespace repro_minify {

/// A table with a row for each value, and in a sentence which one failed first. `original`: the Verdict on the model.
std::string analysis_text(const Analysis &analysis, const Verdict &original);

} // namespace repro_minify
