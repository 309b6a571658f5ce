// One run of a module: forward, and backward when gradients are wanted. After run_fwd_maybe_bwd of PyTorch's accuracy
// check.
#pragma once
#include "repro_minify/program.h"

#include <functional>
#include <string>
#include <vector>

namespace repro_minify {

/// Everything a run produced, detached and copied.
struct Observed {
  c10::IValue output;
  std::vector<std::string> gradient_names;
  std::vector<c10::IValue> gradients; ///< of every parameter and input that requires grad; zeros where there is none
  std::vector<std::string> state_names;
  std::vector<c10::IValue> state; ///< buffers, parameters and arguments after the run
};

/// Calls `forward` with fresh copies of the instance's arguments. `with_buffers`: forward runs the instance's own
/// module, so its buffers are observed too.
Observed run_program(const std::function<c10::IValue(std::vector<c10::IValue>)> &forward, const Instance &instance,
                     bool grad, bool with_buffers);

/// The scalar that backward starts from: for a tensor its sum over its number of elements, for several the mean of
/// theirs. Values that are no tensors or need no gradient do not count. Undefined when nothing requires grad.
at::Tensor reduce_to_scalar_loss(const c10::IValue &output);

} // namespace repro_minify
