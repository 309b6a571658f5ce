// TorchScript's graphs, under the names that all of src/ has for them.
#pragma once
#include <torch/csrc/jit/ir/ir.h>

namespace repro_minify {

namespace jit = torch::jit;
namespace prim = torch::jit::prim;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

} // namespace repro_minify
