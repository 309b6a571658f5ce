// Compiling runs the program several times; the run that follows has to draw the random numbers that eager draws.
#pragma once

#include "backends/backend_parts.h"
#include "backends/inductor_like/straight_line.h"

#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace repro_minify::inductor_like {

/// Gives the CPU's generator, and those of the CUDA devices that `inputs` lie on, their state back at its end.
class KeepRandomState {
public:
  explicit KeepRandomState(const std::vector<c10::IValue> &inputs);
  ~KeepRandomState();
  KeepRandomState(const KeepRandomState &) = delete;
  KeepRandomState &operator=(const KeepRandomState &) = delete;

private:
  std::vector<std::pair<at::Generator, at::Tensor>> states_;
};

// The first stage: a module and its arguments to a straight line, by TorchScript's own tracer. Calls are inlined,
// control flow that does not depend on data is followed, and what autocast does becomes part of the graph.

/// The program is not of a kind that can be compiled; it runs as ATen. The message says why.
class NotCovered : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Our own compiler went wrong: no answer about the program, and nothing that ATen may cover up.
class InternalError : public OwnBug {
public:
  InternalError(const std::string &stage, const std::string &what)
      : OwnBug("in stage " + stage + " of inductor-like, repro-minify's own compiler: " + what) {}
};

/// Returns also what forward returned, in which the line's outputs take the places of the tensors. Throws NotCovered.
std::pair<StraightLine, c10::IValue> capture(const torch::jit::Module &module,
                                             const std::vector<c10::IValue> &arguments);

/// The names of the attributes that forward reads, in the order in which capture() takes them in.
std::vector<std::string> attribute_names(const torch::jit::Module &module);

/// A straight line again after its graph was given calls and branches on constants.
StraightLine capture_again(const StraightLine &line);

/// `value` with the tensors in it, depth first, replaced.
c10::IValue with_tensors(const c10::IValue &value, const std::vector<at::Tensor> &tensors);

} // namespace repro_minify::inductor_like
