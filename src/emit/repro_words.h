// What a repro says in either language.
#pragma once
#include "repro_minify/repro.h"

#include <string>

namespace repro_minify {

/// "Wrong result from torch::jit::freeze."
std::string headline(const ReproFacts &facts);

/// What rounding cannot explain, and the failure goes far beyond: 16-bit results differ by more than float32's. A
/// number as both languages write it.
const char *tolerance(const ReproFacts &facts);

} // namespace repro_minify
