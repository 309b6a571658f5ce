// Which step is guilty, for people.
#pragma once
#include "repro_minify/bisect.h"

#include <string>

namespace repro_minify {

/// A table with a row for each check, and what follows from them.
std::string bisection_text(const Bisection &bisection);

} // namespace repro_minify
