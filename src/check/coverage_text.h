// How much of a program a backend compiled, in words.
#pragma once
#include "repro_minify/backend.h"

#include <string>

namespace repro_minify {

/// "compiled: 2 operators; not compiled: aten::sort, aten::cat 3x (why)". Names are as the program has them.
std::string coverage_text(const Coverage &coverage);

} // namespace repro_minify
