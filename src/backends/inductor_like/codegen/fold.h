// The value that a reduction starts from, and how it takes in one more: C++ for the processor and for CUDA alike.
#pragma once
#include "backends/inductor_like/codegen/kernel.h"

#include <string>

namespace repro_minify {

std::string start_value(Fold fold, Element element);
/// A statement without its semicolon.
std::string folded(Fold fold, const std::string &sum, const std::string &value);

} // namespace repro_minify
