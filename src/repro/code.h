// The reduced program as code of which each piece knows the node that it was printed for.
#pragma once

#include "repro_minify/program.h"

#include <string>
#include <vector>

namespace repro_minify {

struct CodePiece {
  std::string text;
  std::string value; ///< "%x", the first output of the node; empty: of none
};

/// In a row they are the TorchScript source, of a program of torch.fx its Python, or, where a program has none, its
/// graph.
std::vector<CodePiece> code_pieces(const Program &program);

} // namespace repro_minify
