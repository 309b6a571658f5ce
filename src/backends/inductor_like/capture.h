// The first stage: a module and its arguments to a straight line, by TorchScript's own tracer. Calls are inlined,
// control flow that does not depend on data is followed, and what autocast does becomes part of the graph.
#pragma once
#include "backends/cannot_compile.h"
#include "backends/inductor_like/straight_line.h"

#include <stdexcept>

namespace repro_minify::inductor_like {

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

struct Capture {
  StraightLine line;
  c10::IValue result; ///< what forward returned, in which the line's outputs take the places of the tensors
};

/// Throws NotCovered.
Capture capture(const torch::jit::Module &module, const std::vector<c10::IValue> &arguments);

/// The names of the attributes that forward reads, in the order in which capture() takes them in.
std::vector<std::string> attribute_names(const torch::jit::Module &module);

/// A straight line again after its graph was given calls and branches on constants.
StraightLine capture_again(const StraightLine &line);

/// `value` with the tensors in it, depth first, replaced.
c10::IValue with_tensors(const c10::IValue &value, const std::vector<at::Tensor> &tensors);

} // namespace repro_minify::inductor_like
