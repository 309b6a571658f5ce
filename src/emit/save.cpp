// reduced.pt and inputs.pt.
#include "emit/atomic_file.h"
#include "program/compute.h"
#include "program/parts.h"
#include "program/values.h"
#include "repro_minify/repro.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <sstream>

namespace repro_minify {
namespace {

/// The name that is looked for beside a model, where the model is the only one of its folder.
std::string inputs_name(const std::string &name) {
  return name == "reduced" || name == "candidate" ? "inputs" : name + "_inputs";
}

} // namespace

void save_program(const Program &program, const std::string &folder, bool grad, const std::string &name) {
  const Instance instance = instantiate_in_parts(program, {.requires_grad = grad});
  std::ostringstream module;
  instance.module.save(module);
  // A tuple: what Python's torch.load(weights_only=True) reads, in the order of forward's arguments.
  const auto inputs = torch::jit::pickle_save(c10::ivalue::Tuple::create(instance.arguments));
  write_atomically(folder + "/" + name + ".pt", module.str());
  write_atomically(folder + "/" + inputs_name(name) + ".pt", std::string_view(inputs.data(), inputs.size()));
}

int operators_after_freezing(const Program &program) {
  try {
    const auto count = compute_in_child(
        [&](Child &) -> c10::IValue {
          std::stringstream saved;
          instantiate(program).module.save(saved);
          auto module = torch::jit::load(saved);
          module.eval();
          auto graph = torch::jit::freeze_module(module, {}, true, true).get_method("forward").graph()->copy();
          torch::jit::Inline(*graph);
          torch::jit::EliminateDeadCode(graph);
          return size_of({graph, {}, {}}).operators;
        },
        generous_limits());
    return static_cast<int>(count.toInt());
  } catch (const std::exception &) {
    return -1;
  }
}

} // namespace repro_minify
