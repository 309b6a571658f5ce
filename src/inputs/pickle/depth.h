// How deep values are nested in each other.
#pragma once
#include "inputs/pickle/value.h"

namespace repro_minify::pickle {

/// Without recursion. A value that holds itself is as deep as what it holds beside that.
bool is_deeper_than(const Document &document, std::size_t depth);

} // namespace repro_minify::pickle
