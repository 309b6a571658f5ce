// Helpers that the steps of flattening share: they tidy a graph that is being made flat.
#pragma once
#include "repro_minify/flatten.h"

namespace repro_minify {

/// A tuple, list or dict that is returned becomes its parts, as deep as the packing goes, unless it is filled after it
/// was made. A None is not returned.
void unpack_outputs(torch::jit::Graph &graph);

/// Removes constants and packing nodes that nothing reads. (PyTorch's own dead-code elimination trusts alias
/// annotations, and some of the failures looked for are wrong annotations.)
void remove_unused_constants(torch::jit::Graph &graph);
/// Removes unused constants and packing nodes, and the inputs that nothing reads.
void drop_unused(Program &program);

} // namespace repro_minify
