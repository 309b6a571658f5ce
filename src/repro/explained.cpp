#include "repro/intermediate.h"

#include "check/compare_runs.h"
#include "core/json.h"
#include "program/values.h"
#include "repro/shown_value.h"
#include "repro_minify/backend_parts.h"

#include <torch/csrc/jit/runtime/interpreter.h>

namespace repro_minify {
namespace {

/// The graph of the program that returns all values, but that each is read from an argument. It takes the program's
/// arguments, then the values.
std::shared_ptr<Graph> single_steps(const Program &exposed, const std::vector<Intermediate> &values) {
  auto graph = exposed.graph->copy();
  std::vector<Value *> made;
  for (size_t i = 0; i < values.size(); ++i) { // a value that is written later is returned as a clone of it
    Value *output = graph->outputs()[i];
    made.push_back(values[i].is_written_later ? output->node()->input(0) : output);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    Value *argument = graph->addInput()->setType(made[i]->type());
    made[i]->replaceAllUsesWith(argument);
    graph->block()->replaceOutput(i, made[i]);
  }
  return graph;
}

std::vector<c10::IValue> interpreted(const std::shared_ptr<Graph> &graph, const Program &exposed,
                                     const std::vector<c10::IValue> &found) {
  SharedCloner cloner({.requires_grad = false});
  std::vector<c10::IValue> stack;
  for (const auto &input : exposed.inputs)
    stack.push_back(cloner.clone(input.value));
  for (const auto &value : found)
    stack.push_back(cloner.clone(value));
  const torch::jit::Code code(graph, "steps");
  torch::jit::InterpreterState(code).run(stack);
  return stack;
}

/// A JSON list.
std::string explained_here(const Program &exposed, const ModuleFactory &factory, const Backend &backend,
                           const CheckOptions &how, const std::vector<Intermediate> &values, int call) {
  fill_unwritten_memory(Fill::Usual);
  const Observed optimised = CheckContext{factory, backend, how}.run_optimised(call);
  std::vector<c10::IValue> found;
  flatten_value(optimised.output, found);
  if (found.size() != values.size())
    return "[]";
  const RunScope scope(run_settings(backend, how));
  scope.begin_run();
  const std::vector<c10::IValue> made = interpreted(single_steps(exposed, values), exposed, found);
  scope.end_run();
  json list = json::array();
  for (size_t i = 0; i < found.size(); ++i)
    list.push_back(same(made.at(i), found[i], std::nullopt, how.compare) ? 1 : 0);
  return list.dump();
}

} // namespace

Job explain_job(std::shared_ptr<const Program> exposed, std::shared_ptr<const Backend> backend,
                const CheckOptions &options, const std::vector<Intermediate> &values, int call) {
  CheckOptions how = options;
  how.only_forward = true;
  const ModuleFactory factory = factory_for(exposed, *backend);
  return [=](Child &child) {
    child.confine(confinement_of(*backend));
    child.reply(explained_here(*exposed, factory, *backend, how, values, call));
  };
}

std::vector<char> explained_from(const std::string &reply, size_t values) {
  const json list = json::parse(reply, nullptr, /*allow_exceptions=*/false);
  std::vector<char> explained(values);
  if (list.is_array() && list.size() == values)
    for (size_t i = 0; i < values; ++i)
      explained[i] = list[i] == 1;
  return explained;
}

} // namespace repro_minify
