// Inputs that stay on the CPU when a program runs on a device: an operator wants them there.
#pragma once
#include "program/graph.h"
#include "program/values.h"

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace repro_minify {

/// Returns, for each input of the graph, whether it is an argument that its operator refuses on a device, or is made
/// into one without being moved. Calls are not followed.
std::vector<bool> inputs_on_cpu(const Graph &graph);

/// Copies arguments to where they are in a run: the device that the options name, but for those that stay on the CPU.
class ArgumentCloner {
public:
  /// Arguments are the inputs of the graph, in order.
  ArgumentCloner(const CloneOptions &options, const Graph &graph);
  /// Arguments are those of the method.
  ArgumentCloner(const CloneOptions &options, const torch::jit::Module &module, const std::string &method = "forward");
  c10::IValue clone(size_t argument, const c10::IValue &value);
  /// Copies what is no argument.
  SharedCloner &others() { return there_; }

private:
  explicit ArgumentCloner(const CloneOptions &options);

  std::vector<bool> on_cpu_; ///< empty where all runs on the CPU
  SharedCloner there_, here_;
};

} // namespace repro_minify
