// The arguments of a call of torch.fx that its schema has defaults for.
#pragma once
#include <nlohmann/json.hpp>
#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>
#include <vector>

namespace repro_minify {

struct DefaultArgument {
  std::size_t place;   ///< among the positional arguments of the call
  nlohmann::json form; ///< of the default, which is a number, a bool, a text or None: {"int": "-100"}
};

/// Returns, for a call of an operator (torch.ops.aten.cross_entropy_loss.default), the positional arguments that have
/// another value than the default that the operator's schema gives. The last argument is left out: a call can do
/// without it. Empty for a call of anything else, and for an operator that this process does not know.
std::vector<DefaultArgument> arguments_with_defaults(const torch::jit::Node *node);

/// Gives the call the argument.
void set_argument(torch::jit::Node *node, const DefaultArgument &argument);

} // namespace repro_minify
