// One run of a module: forward, and backward when gradients are wanted. After run_fwd_maybe_bwd and
// reduce_to_scalar_loss of PyTorch's accuracy check (torch/_dynamo/debug_utils.py and testing.py, 2.13.0).
#pragma once

#include "check/operators.h"
#include "repro_minify/program.h"

#include <ATen/ATen.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace repro_minify {

/// Everything a run produced, detached and copied.
struct Observed {
  c10::IValue output;
  std::vector<std::string> gradient_names;
  std::vector<int> gradient_arguments; ///< one for each gradient: which argument it is of; -1 for a parameter
  std::vector<c10::IValue> gradients;  ///< of every parameter and input that requires grad; zeros where there is none
  std::vector<std::string> state_names;
  std::vector<c10::IValue> state;          ///< parameters, buffers and arguments after the run
  std::size_t parameters = 0, buffers = 0; ///< how many of `state` are which: they come before the arguments
  /// One for each state: the type of a value that is what it was before anything ran, and therefore not in `state`;
  /// empty for all others.
  std::vector<std::string> unchanged;
  bool has_way_back = false; ///< something in the output requires a gradient
  int left_out = 0;          ///< gradients of parameters that `parameter_gradients` leaves out
  OperatorCalls operators;   ///< that forward, and backward, called on this thread, if asked for
};

struct RunOptions {
  bool grad = false;   ///< backpropagate from reduce_to_scalar_loss, observe gradients
  bool state = true;   ///< observe what the run leaves behind: the arguments, and the module if it is the one that runs
  bool module = false; ///< `forward` runs the instance's own module: its parameters and buffers are part of the state
  /// `forward` gets the only references to its arguments, and may let go of each as soon as it has no more use for it
  /// (TorchInductor's boxed calling convention). What it leaves in them cannot be observed then.
  bool boxed = false;
  /// False: only gradients of the arguments, for a backend that makes constants of the parameters.
  bool parameter_gradients = true;
  /// True if the value at this place of Observed::state is what it was before anything ran; none: nothing is known.
  std::function<bool(std::size_t, const c10::IValue &)> unchanged = {};
  bool operators = false; ///< count what forward, and backward, call: takes time, not for what is timed
};

/// Calls `forward` with fresh copies of the instance's arguments.
Observed run_program(const std::function<c10::IValue(std::vector<c10::IValue>)> &forward, const Instance &instance,
                     const RunOptions &options);

/// The scalar that backward starts from. A tensor: its sum over its number of elements (of the real view for a complex
/// one). A list, tuple or dict: the mean of its parts'. Something with a field `logits`: that of the logits; with a
/// `mean`, the sum of it. None, numbers and strings do not count (PyTorch raises for them). The caller asks
/// whether it requires grad. Throws std::invalid_argument ("don't know how to reduce TYPE") for anything else.
at::Tensor reduce_to_scalar_loss(const c10::IValue &output);

// The memory that tensors take; a tensor that is named twice counts twice.

/// Returns the bytes of any range of tensors. One that is undefined, or has no one piece of memory, counts as zero.
template <typename Tensors> std::size_t bytes_of_tensors(const Tensors &tensors) {
  std::size_t bytes = 0;
  for (const at::Tensor &tensor : tensors)
    if (tensor.defined() && tensor.layout() == at::kStrided)
      bytes += tensor.nbytes();
  return bytes;
}

// Memory that was allocated and never written. What it holds is garbage, and a program that reads it gives another
// result in each run; here it holds the same in every run, until it is filled with something else.

enum class Fill { Usual, Other };

/// The value that the C library's allocator is given for Fill::Usual (mallopt's M_PERTURB, which fills what is freed
/// with this byte, and what is allocated with its complement).
inline constexpr int usual_perturbation = 85;

/// Has the allocator of this process fill memory from now on. Reaches what malloc and posix_memalign hand out, and so
/// tensors on the CPU, but for some of up to 1 KiB, which glibc hands out of its cache for a thread. Has no effect
/// where the C library is not glibc, and on other devices.
void fill_unwritten_memory(Fill fill);

} // namespace repro_minify
