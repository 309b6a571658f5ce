// The reduced program as code of which each piece knows the node that it was printed for.
#pragma once
#include "core/json.h"
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

// A program of torch.fx as lines of Python, for the reports. (repro.py is written by Python itself.)

/// Returns a function `f` of the program's inputs, a line for each call. Names and texts of a model are in it as they
/// are: the caller escapes them.
std::string fx_source(const Program &program);
/// Returns the same in pieces, one for each node.
std::vector<CodePiece> fx_pieces(const Program &program);
/// Returns the line of a node, without the names that it gives to its results: `x.half()`.
std::string fx_line(const torch::jit::Node *node);

// The difference between two programs, line by line.

/// For the section of report.html: rows of {sign, text, class}, the failing program's lines and the passing one's.
json difference_json(const Program &failing, const Program &passing);

} // namespace repro_minify
