// Saves a program in reduced.pt and inputs.pt, two files that belong together.
#include "check/run_program.h"
#include "core/files.h"
#include "program/compute.h"
#include "program/materialise.h"
#include "program/module_edits.h"
#include "program/read_inputs.h"
#include "program/values.h"
#include "repro/results_folder.h"
#include "repro_minify/archive.h"
#include "repro_minify/repro.h"
#include "repro_minify/sandbox.h"

#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <sstream>

namespace repro_minify {
namespace {

PairOfFiles files_of(const std::string &folder, const std::string &name) {
  // The name that is looked for beside a model, where the model is the only one of its folder.
  const bool is_alone = name == "reduced" || name == "candidate";
  return {folder + "/" + name + ".pt", folder + "/" + (is_alone ? "inputs" : name + "_inputs") + ".pt"};
}

/// A tuple: what Python's torch.load(weights_only=True) reads, in the order of forward's arguments.
std::string saved_inputs(const std::vector<c10::IValue> &arguments) {
  const auto bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create(arguments));
  return {bytes.data(), bytes.size()};
}

/// With the inputs inside: without the file beside it, it still is the whole program. A stream that grows holds a large
/// model twice at a time; this one has room for it from the beginning.
std::string saved_module(const torch::jit::Module &module, const std::string &inputs) {
  std::string room;
  room.reserve(bytes_of_tensors(module.parameters()) + inputs.size() + (std::size_t{1} << 20));
  std::ostringstream out(std::move(room));
  module.save(out, {{inputs_inside_name, inputs}});
  return std::move(out).str();
}

} // namespace

void save_program(const Program &program, const std::string &folder, bool grad, const std::string &name, bool durable) {
  // The program that is handed over in the end is one module, as its user would write it.
  const InstantiateOptions how{.requires_grad = grad};
  const Instance instance = durable ? instantiate(program, how) : instantiate_in_parts(program, how);
  const std::string inputs = saved_inputs(instance.arguments);
  const PairOfFiles files = files_of(folder, name);
  if (name != "candidate") {
    let_children_read(folder); // the checks of what was written
    write_pair(files, saved_module(instance.module, inputs), inputs, durable);
    return;
  }
  // Only the oracle reads these files: they are of no use once the process that asks it has ended.
  std::ostringstream module;
  instance.module.save(module);
  write_atomically(files.first, module.str());
  write_atomically(files.second, inputs);
}

void save_as_given(const Archive &archive, const std::string &folder) {
  const std::string inputs = saved_inputs(archive.arguments);
  const PairOfFiles files = files_of(folder, "reduced");
  let_children_read(folder); // the checks of what was written
  if (archive.method == "forward") {
    write_pair(files, bytes_of(archive.path), inputs, /*durable=*/true); // not loaded and saved: that can change it
    return;
  }
  auto module = with_method_as_forward(torch::jit::load(archive.path, c10::kCPU), archive.method);
  if (!archive.train)
    module.eval();
  write_pair(files, saved_module(module, inputs), inputs, /*durable=*/true);
}

bool repair_saved(const std::string &folder) {
  const PairOfFiles files = files_of(folder, "reduced");
  const auto inside = PlainFile::to_read(files.first) ? inputs_inside(files.first) : std::nullopt;
  const auto beside = PlainFile::to_read(files.second);
  if (!inside || (beside && beside->size() == inside->size() && beside->read(0, inside->size()) == *inside))
    return false;
  write_atomically(files.second, *inside);
  return true;
}

int operators_after_freezing(const Program &program, const Limits &limits) {
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
        limits);
    return static_cast<int>(count.toInt());
  } catch (const std::exception &) {
    return -1;
  }
}

} // namespace repro_minify
