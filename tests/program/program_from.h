// A program from the text of its graph.
#pragma once
#include "repro_minify/program.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <string>
#include <vector>

namespace repro_minify::testing_support {

/// A Program from the text of a graph, as Graph::toString prints it; one value for each of the graph's inputs.
inline Program program_from(const std::string &ir, const std::vector<at::Tensor> &values) {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, program.graph.get());
  for (size_t i = 0; i < values.size(); ++i) {
    ProgramInput input;
    input.name = "x" + std::to_string(i);
    input.value = values[i];
    program.inputs.push_back(std::move(input));
  }
  return program;
}

/// A constant with the JSON of a call of torch.fx, as a line of such a text: `%NAME : str = ...`.
inline std::string call_constant(const std::string &name, const std::string &call) {
  std::string text = "\n  %" + name + " : str = prim::Constant[value=\"";
  for (const char c : call)
    text += c == '"' ? std::string("\\\"") : std::string(1, c);
  return text + "\"]()";
}

} // namespace repro_minify::testing_support
