// The sentences that a repro has in either language.
#pragma once
#include "repro_minify/repro.h"

#include <string>

namespace repro_minify {

/// "Wrong result from torch::jit::freeze."
std::string headline(const ReproFacts &facts);

} // namespace repro_minify
