#include "backends/inductor_like/stages.h"

#include "backends/inductor_like/capture.h"
#include "backends/inductor_like/lowered_values.h"
#include "core/no_answer.h"
#include "core/text.h"
#include "program/compute.h"
#include "repro_minify/record.h"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/jit/passes/common_subexpression_elimination.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>

namespace repro_minify::inductor_like {
namespace {

void dump_line(const BackendOptions &options, const std::string &stage, const StraightLine &line) {
  if (!options.dumped_stages.empty())
    dump_stage(options, stage, line.graph->toString(/*print_source_locations=*/false));
}

std::string description(const Plan &plan) {
  std::ostringstream text;
  for (const auto &step : plan.steps)
    if (const auto *kernel = std::get_if<KernelStep>(&step)) {
      text << kernel->name << " over [" << joined_numbers(kernel->kernel.sizes)
           << "], outputs: " << kernel->kernel.outputs.size() << "\n";
    } else {
      text << "ATen: " << std::get<AtenStep>(step).node->kind().toQualString() << "\n";
    }
  return text.str();
}

/// Parameters and buffers that the program does not write to are constants from here on.
void freeze(Functional &program) {
  for (size_t k = program.line.arguments; k < program.line.inputs.size(); ++k)
    program.line.constants[k] = std::none_of(program.updates.begin(), program.updates.end(),
                                             [&](const Functional::Update &update) { return update.input == k; });
}

/// Throws NotCovered where everything has to run as ATen, NoAnswer where a device has no driver or NVRTC: then nothing
/// is known of the kernels.
void require_kernels_possible(const Plan &plan) {
  // 4,096 bytes of parameters are what every CUDA device takes.
  constexpr size_t most_arguments = 512;
  bool any = false;
  for (const auto &step : plan.steps)
    if (const auto *kernel = std::get_if<KernelStep>(&step); kernel && plan.device.is_cuda()) {
      any = true;
      if (kernel->arguments.size() > most_arguments)
        throw NotCovered("a kernel would take more tensors than CUDA lets it");
    }
  if (!any)
    return;
  if (const std::string reason = no_kernels_because(plan.device); !reason.empty())
    throw NoAnswer("inductor-like: " + reason);
}

bool is_operator(const Node *node) {
  return node->kind().is_aten();
}

void count_operators(const Graph &graph, std::map<std::string, int> &counts) {
  for (const auto *node : all_nodes(graph))
    if (is_operator(node))
      ++counts[node->kind().toQualString()];
}

bool is_wanted(const BackendOptions &options, const std::string &stage) {
  const auto &skipped = options.skipped_stages;
  return std::find(skipped.begin(), skipped.end(), stage) == skipped.end();
}

/// The stages from graph to graph. `stage`: the one that it has come to.
Functional simplified(const StraightLine &captured, const BackendOptions &options, std::string &stage) {
  if (!is_wanted(options, "functionalise"))
    throw NotCovered("nothing can be compiled before functionalise");
  stage = "functionalise";
  Functional program = functionalise(captured);
  dump_line(options, "functionalise", program.line);
  stage = "freeze";
  if (is_wanted(options, "freeze"))
    freeze(program);
  stage = "fold-constants";
  if (is_wanted(options, "fold-constants"))
    program.line = fold_constants(program.line);
  dump_line(options, "fold-constants", program.line);
  stage = "decompose";
  if (is_wanted(options, "decompose"))
    program.line = decompose(program.line);
  dump_line(options, "decompose", program.line);
  stage = "common-subexpressions";
  if (is_wanted(options, "common-subexpressions")) {
    torch::jit::EliminateCommonSubexpression(program.line.graph);
    torch::jit::EliminateDeadCode(program.line.graph);
  }
  dump_line(options, "common-subexpressions", program.line);
  return program;
}

CompiledProgram compile_in_stages(const torch::jit::Module &module, const std::vector<c10::IValue> &arguments,
                                  const BackendOptions &options, std::string &stage) {
  stage = "capture";
  auto [line, result] = capture(module, arguments);
  dump_line(options, "capture", line);
  const KeepRandomState random(line.inputs);
  // Autocast's casts are in the graph now.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const Functional program = simplified(line, options, stage);
  const auto wanted = [&](const char *name) { return is_wanted(options, name); };
  stage = "fuse"; // kernels are made and fused in one go
  CompiledProgram compiled;
  compiled.plan = lower(program.line, {.pointwise = wanted("pointwise-kernels"),
                                       .reductions = wanted("reduction-kernels"),
                                       .fuse = wanted("fuse"),
                                       .constants = wanted("fold-constants"),
                                       .emulate_precision_casts = options.emulate_precision_casts,
                                       .inject = options.inject});
  stage = "generate";
  write_kernels(compiled.plan);
  require_kernels_possible(compiled.plan);
  dump_stage(options, "fuse", description(compiled.plan));
  dump_stage(options, "generate", compiled.plan.source);
  compiled.line = program.line;
  compiled.updates = program.updates;
  compiled.result = result;
  return compiled;
}

} // namespace

void dump_stage(const BackendOptions &options, const std::string &stage, const std::string &text) {
  const auto &wanted = options.dumped_stages;
  if (std::none_of(wanted.begin(), wanted.end(), [&](const auto &name) { return name == stage || name == "all"; }))
    return;
  const std::string block = "=== " + stage + " ===\n" + text + "\n";
  if (options.dump_file.empty())
    std::cerr << block;
  else
    std::ofstream(options.dump_file, std::ios::app) << block;
}

const std::vector<std::string> &stage_names() {
  static const std::vector<std::string> names = {
      "functionalise",     "freeze", "fold-constants", "decompose", "common-subexpressions", "pointwise-kernels",
      "reduction-kernels", "fuse"};
  return names;
}

Coverage coverage_of(const Plan &plan, const StraightLine &line) {
  Coverage coverage;
  std::map<std::string, int> all;
  count_operators(*line.graph, all);
  for (const auto &step : plan.steps)
    if (const auto *aten = std::get_if<AtenStep>(&step); aten && is_operator(aten->node))
      ++coverage.not_compiled[aten->node->kind().toQualString()];
  for (const auto &[name, count] : all) {
    const auto found = coverage.not_compiled.find(name);
    coverage.compiled += std::max(0, count - (found == coverage.not_compiled.end() ? 0 : found->second));
  }
  return coverage;
}

Coverage all_as_aten(const torch::jit::Module &module, const std::string &because) {
  Coverage coverage;
  coverage.because = because;
  count_operators(*module.get_method("forward").graph(), coverage.not_compiled);
  return coverage;
}

void rethrow_as_internal(const std::string &stage) {
  std::string message;
  try {
    throw;
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const NoAnswer &) { // a compiler that could not start has not gone wrong
    throw;
  } catch (const std::system_error &) {
    throw;
  } catch (const c10::Error &error) {
    message = error.what_without_backtrace();
  } catch (const std::exception &error) {
    message = error.what();
  }
  if (is_out_of_memory(message))
    throw;
  throw InternalError(stage, first_sentence(message));
}

CompiledProgram compile_stages(const torch::jit::Module &module, const std::vector<c10::IValue> &arguments,
                               const BackendOptions &options) {
  std::string stage;
  try {
    return compile_in_stages(module, arguments, options, stage);
  } catch (const NotCovered &) {
    throw;
  } catch (const std::exception &) {
    rethrow_as_internal(stage);
  }
}

} // namespace repro_minify::inductor_like
