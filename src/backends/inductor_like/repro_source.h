// A compiled program as C++ for repro.cpp: its kernels, and the calls around them.
#pragma once

#include "backends/inductor_like/plan.h"
#include "backends/inductor_like/stages.h"

#include <string>
#include <vector>

namespace repro_minify::inductor_like {

/// `names` are the program's own names of the line's inputs behind its arguments: attributes of the module. Throws
/// NotCovered for what has no C++ that stands on its own.
BackendSource repro_source(const CompiledProgram &program, const std::vector<std::string> &names);

/// The same where the kernels do not compile: repro.cpp has them as text, and compiles them when it runs.
BackendSource uncompilable_source(const CompiledProgram &program);

// CUDA kernels in repro.cpp: text that NVRTC compiles when it runs, so that it needs LibTorch alone.

/// Returns the headers that cuda_repro_kernels() needs.
const std::vector<std::string> &cuda_repro_includes();

/// At file scope: `compiled_kernels()`, which throws what NVRTC has against them, `launch(name, blocks, tensors)`, and
/// `kernels_device`.
std::string cuda_repro_kernels(const Plan &plan);

} // namespace repro_minify::inductor_like
