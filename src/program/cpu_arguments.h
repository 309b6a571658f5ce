// Inputs that stay on the CPU when a program runs on a device: an operator wants them there.
#pragma once
#include "program/values.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace repro_minify {

/// Returns, for each input of the graph, whether it is an argument that its operator refuses on a device, or is made
/// into one without being moved. Calls are not followed.
std::vector<bool> inputs_on_cpu(const torch::jit::Graph &graph);
/// The same for each argument of a method, without `self`, with its calls followed.
std::vector<bool> arguments_on_cpu(const torch::jit::Module &module, const std::string &method = "forward");

/// Copies arguments to where they are in a run.
class ArgumentCloner {
public:
  /// `on_cpu`: as the functions above return it; it is not looked at where the options name no device.
  ArgumentCloner(const CloneOptions &options, std::vector<bool> on_cpu);
  c10::IValue clone(size_t argument, const c10::IValue &value);
  /// Copies what is no argument.
  SharedCloner &others() { return there_; }

private:
  std::vector<bool> on_cpu_;
  SharedCloner there_, here_;
};

} // namespace repro_minify
