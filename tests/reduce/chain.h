// A program that keeps a reduction busy.
#pragma once
#include "program/program_from.h"

#include <string>

namespace repro_minify::testing_support {

/// A chain of operators, one of that kind ("erf") among them, with recorded data: most passes find something to ask.
inline Program chain_with(const std::string &kind, int length) {
  std::string text = "graph(%v0 : Tensor):\n";
  for (int i = 0; i < length; ++i)
    text += "  %v" + std::to_string(i + 1) + " : Tensor = aten::" +
            (i == length / 3 ? kind
             : i % 2         ? "neg"
                             : "tanh") +
            "(%v" + std::to_string(i) + ")\n";
  return program_from(text + "  return (%v" + std::to_string(length) + ")",
                      {at::arange(24, at::kFloat).mul(0.1).view({4, 6}).t()});
}

} // namespace repro_minify::testing_support
