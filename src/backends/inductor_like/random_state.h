// Compiling runs the program several times; the run that follows has to draw the random numbers that eager draws.
#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>

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

} // namespace repro_minify::inductor_like
