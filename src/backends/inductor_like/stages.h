// The stages of the compilation, in order, from a module to a plan.
#pragma once
#include "backends/inductor_like/functionalise.h"
#include "backends/inductor_like/plan.h"
#include "repro_minify/backend.h"

#include <string>
#include <vector>

namespace repro_minify::inductor_like {

/// The names that --skip-stage takes, in order. (Skipping functionalise is NotCovered; the kernels' are parts of one
/// lowering.)
const std::vector<std::string> &stage_names();

/// How many operators of a compiled program are part of its kernels, and which are ATen's.
Coverage coverage_of(const Plan &plan, const StraightLine &line);
/// Where all of it runs as ATen, since...
Coverage all_as_aten(const torch::jit::Module &module, const std::string &because);

/// Throws what is being handled again, as InternalError unless it says nothing about our compiler: memory has run out,
/// a compiler could not start.
[[noreturn]] void rethrow_as_internal(const std::string &stage);

struct CompiledProgram {
  Plan plan;
  StraightLine line; ///< what was lowered
  std::vector<InputUpdate> updates;
  c10::IValue result; ///< what forward returned, for its structure
};

/// Writes what a stage made, if --dump-stage asks for it: a name above that leaves a text, capture, or generate.
void dump_stage(const BackendOptions &options, const std::string &stage, const std::string &text);

/// Throws NotCovered for a program that is not of the kind that is compiled, InternalError where our own compiler goes
/// wrong, and what running out of memory raises. Autocast, if it is on, becomes part of the graph.
CompiledProgram compile_stages(const torch::jit::Module &module, const std::vector<c10::IValue> &arguments,
                               const BackendOptions &options);

} // namespace repro_minify::inductor_like
