// Backends compile forward. A method of another name that cannot be flattened gets a module around it.
#pragma once
#include <torch/csrc/jit/api/module.h>

#include <string>

namespace repro_minify {

/// A module whose forward calls that method of `model`; `model` itself where that is forward.
torch::jit::Module with_method_as_forward(const torch::jit::Module &model, const std::string &method);

} // namespace repro_minify
