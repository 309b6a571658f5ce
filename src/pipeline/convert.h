// Makes a model of what torch.export and torch.compile leave behind: a Python with torch does it, confined.
#pragma once

#include "program/model_kind.h"
#include "repro_minify/conversion.h"
#include "repro_minify/sandbox.h"

#include <cstdint>
#include <string>
#include <vector>

namespace repro_minify {

struct ConvertOptions {
  std::string python;                 ///< as BackendOptions has it
  std::uint64_t seed = 0;             ///< of data that is drawn
  int graph = 0;                      ///< only this graph of a log, from 1; 0: all
  bool keeps_calls = false;           ///< as calls of torch.fx where they have a form; else all of it is traced
  bool weights_inside = false;        ///< with the calls: parameters are attributes, and no further inputs
  std::string inputs;                 ///< a file of inputs for a .pt2 in the place of its own; empty: its own
  std::vector<std::string> libraries; ///< shared libraries of operators, loaded first
  std::vector<std::string> imports;   ///< as BackendOptions has them
};

/// A child looks first. Throws UserError for what is no model that can be taken.
ModelKind recognise(const std::string &path, const Limits &limits);

/// One for each graph, those that could not be converted too; with ConvertOptions::graph that one alone. Throws
/// UserError where there is none.
std::vector<Conversion> convert(const std::string &path, ModelKind kind, const ConvertOptions &options,
                                const Limits &limits);

/// Runs what `conversion` was made of under torch.compile, beside eager, by PyTorch's own rule, since a conversion may
/// lose what fails. Gives how it fails, with the operators that the conversion lost; empty where it passes, or where
/// that cannot be found out. Throws Interrupted.
std::string failure_of_original(const Conversion &conversion, const ConvertOptions &options, const Limits &limits);

} // namespace repro_minify
