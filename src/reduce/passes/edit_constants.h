// Changes of constants that a graph's nodes read, without more nodes than there were where that can be.
#pragma once
#include "repro_minify/program.h"

#include <vector>

namespace repro_minify {

/// A new value for an argument of a node of the Program in which the edit was found.
struct ArgumentEdit {
  const torch::jit::Node *node;
  std::size_t argument;
  c10::IValue value;
};

/// The Program with all of `edits`, which were found in it. Each argument reads a constant that is there already and
/// can be read from its node, else a new one in front of it; what is no longer read is gone.
Program with_arguments(const Program &program, const std::vector<ArgumentEdit> &edits);

} // namespace repro_minify
