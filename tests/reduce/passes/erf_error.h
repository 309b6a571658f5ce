// A backend that gets erf wrong, and is caught behind a log1p: a failure that needs data to get from one to the other,
// by whatever way, memory included.
#pragma once
#include "repro_minify/program.h"
#include "repro_minify/record.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <vector>

namespace repro_minify::testing_support {

/// Returns the Program's outputs for copies of its inputs; every erf forgets the sign of its argument if `wrong`.
inline std::vector<c10::IValue> outputs_of(const Program &program, bool wrong) {
  auto graph = program.graph->copy();
  for (auto *node : all_nodes(*graph))
    if (wrong && node->kind() == c10::Symbol::fromQualString("aten::erf")) {
      torch::jit::WithInsertPoint guard(node);
      node->replaceInput(0, graph->insert(c10::Symbol::fromQualString("aten::abs"), {node->input(0)}));
    }
  std::vector<c10::IValue> stack;
  for (const auto &input : program.inputs)
    stack.emplace_back(input.value.toTensor().clone());
  torch::jit::Code code(graph, "program");
  torch::jit::InterpreterState(code).run(stack);
  return stack;
}

/// True if the error shows in an output that a log1p makes.
inline bool error_gets_to_log1p(const Program &program) {
  const auto right = outputs_of(program, false), wrong = outputs_of(program, true);
  for (size_t i = 0; i < right.size(); ++i)
    if (program.graph->outputs()[i]->node()->kind() == c10::Symbol::fromQualString("aten::log1p") &&
        !at::allclose(right[i].toTensor(), wrong[i].toTensor(), 0, 0, /*equal_nan=*/true))
      return true;
  return false;
}

/// 2 x 4, of both signs, small enough for erf's to be arguments of log1p.
inline at::Tensor small_numbers() {
  return at::tensor({0.1f, -0.2f, 0.3f, -0.1f, 0.2f, -0.3f, 0.15f, 0.25f}).reshape({2, 4});
}

} // namespace repro_minify::testing_support
