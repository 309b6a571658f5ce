// A program of torch.fx as lines of Python, for the reports. (repro.py is written by Python itself.)
#pragma once
#include "repro/code.h"

#include <string>
#include <vector>

namespace repro_minify {

/// Returns a function `f` of the program's inputs, a line for each call. Names and texts of a model are in it as they
/// are: the caller escapes them.
std::string fx_source(const Program &program);
/// Returns the same in pieces, one for each node.
std::vector<CodePiece> fx_pieces(const Program &program);
/// Returns the line of a node, without the names that it gives to its results: `x.half()`.
std::string fx_line(const torch::jit::Node *node);

} // namespace repro_minify
