// Changes of constants that a graph's nodes read, without more nodes than there were where that can be.
#pragma once
#include "repro_minify/program.h"

namespace repro_minify {

/// Lets argument `i` of the node read `value`: a constant that is there already and can be read from the node, else a
/// new one in front of it. What nobody reads any more is for drop_unused.
void set_argument(torch::jit::Node *node, std::size_t i, const c10::IValue &value);

} // namespace repro_minify
