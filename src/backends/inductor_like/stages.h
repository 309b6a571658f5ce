// The steps that make a graph ready to be lowered, and all stages in their order.
#pragma once

#include "backends/inductor_like/plan.h"
#include "backends/inductor_like/straight_line.h"
#include "repro_minify/backend.h"

#include <set>
#include <string>
#include <vector>

namespace repro_minify::inductor_like {

// The second stage: no operator writes to a tensor any more. One that did is replaced by its functional twin, and later
// readers of the same memory read the new value.

struct Functional {
  /// An input that the program writes to, and the output of the functional graph that it has to be given.
  struct Update {
    size_t input = 0;
    size_t output = 0;
  };
  StraightLine line; ///< its outputs: those of the original, then the new contents of inputs
  std::vector<Update> updates;
};

/// Throws NotCovered for an operator that writes and has no functional twin, and for memory shared in a way that
/// cannot be said with views of one contiguous tensor.
Functional functionalise(const StraightLine &line);

/// A stage: computes what depends on constants alone.
StraightLine fold_constants(const StraightLine &line);

/// Inputs that are constant, and every value that depends on such alone.
std::set<const Value *> constant_values(const StraightLine &line);

/// A stage: composite operators become the simple ones they are made of, written as TorchScript. 16-bit operands are
/// computed in float32 and rounded once, as in TorchInductor's decompositions.
StraightLine decompose(const StraightLine &line);

// The stages of the compilation, in order, from a module to a plan.

/// The names that --skip-stage takes, in order. (Skipping functionalise is NotCovered; the kernels' are parts of one
/// lowering.)
const std::vector<std::string> &stage_names();

/// Returns how many operators of a compiled program are part of its kernels, and which are ATen's.
Coverage coverage_of(const Plan &plan, const StraightLine &line);
/// Returns the coverage of a module that runs as ATen as a whole. `because` says why.
Coverage all_as_aten(const torch::jit::Module &module, const std::string &because);

/// Call only inside a catch block: throws the current exception again, as InternalError unless it says nothing about
/// our compiler (memory has run out, a compiler could not start).
[[noreturn]] void rethrow_as_internal(const std::string &stage);

struct CompiledProgram {
  Plan plan;
  StraightLine line; ///< what was lowered
  std::vector<Functional::Update> updates;
  c10::IValue result; ///< what forward returned, for its structure
};

/// Writes what a stage made, if --dump-stage asks for it. `stage` is one of stage_names(), "capture" or "generate".
void dump_stage(const BackendOptions &options, const std::string &stage, const std::string &text);

/// Runs all stages. Autocast, if it is on, becomes part of the graph. Throws NotCovered for a program that is not of
/// the kind that is compiled, InternalError where our own compiler goes wrong, and what running out of memory raises.
CompiledProgram compile_stages(const torch::jit::Module &module, const std::vector<c10::IValue> &arguments,
                               const BackendOptions &options);

// A compiled program as C++ for repro.cpp: its kernels, and the calls around them.

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
