#include "program/tracer.h"

#include "program/compute.h"
#include "program/cpu_arguments.h"
#include "program/flat_graph.h"
#include "program/materialise.h"
#include "program/module_edits.h"
#include "program/values.h"

#include <torch/csrc/jit/passes/shape_analysis.h>

#include <sstream>
#include <system_error>

namespace repro_minify {
namespace {

constexpr size_t most_steps = 50000;

TraceLog log_of_run(const LoadedModel &model, const std::vector<c10::IValue> &arguments, const RunSettings &settings,
                    Limits limits) {
  limits.reply_capacity = generous_limits().reply_capacity;
  auto &method = model.module.get_method(model.method).function();
  const auto work = [&](Child &child) {
    child.stage("tracing the model");
    const RunScope scope(settings);
    ArgumentCloner cloner({.requires_grad = settings.grad, .device = settings.device}, model.module, model.method);
    if (!settings.device.is_cpu())
      move_attributes(model.module, settings.device);
    std::vector<c10::IValue> copies;
    for (size_t i = 0; i < arguments.size(); ++i)
      copies.push_back(cloner.clone(i, arguments[i]));
    scope.begin_run();
    const TraceLog log = Tracer(most_steps, settings.device).run(method, model.module._ivalue(), copies);
    scope.end_run();
    return log.packed();
  };
  try {
    return TraceLog::unpacked(compute_in_child(work, limits));
  } catch (const std::system_error &) { // the machine's trouble says nothing of the model
    throw;
  } catch (const std::exception &error) {
    throw CannotFlatten(first_sentence(error.what()));
  }
}

/// Makes the Program that a log describes.
class Replay {
public:
  Replay(const LoadedModel &model, Program &program) : model_(model), program_(program), inputs_(program) {}

  void run(const TraceLog &log, const std::vector<c10::IValue> &arguments) {
    const auto &schema = model_.module.get_method(model_.method).function().getSchema();
    for (size_t i = 0; i < arguments.size(); ++i)
      values_.push_back(inputs_.materialise(arguments[i], schema.arguments()[i + 1].type(), Role::Input,
                                            schema.arguments()[i + 1].name()));
    for (const TraceLog::Step &step : log.steps)
      replay(step, log);
    for (const int64_t output : log.outputs)
      program_.graph->registerOutput(values_.at(output));
  }

private:
  void replay(const TraceLog::Step &step, const TraceLog &log) {
    Graph &graph = *program_.graph;
    std::vector<Value *> operands;
    for (const int64_t operand : step.operands)
      operands.push_back(values_.at(operand));
    switch (step.kind) {
    case TraceLog::Step::Operator:
      return copy(step.node, operands);
    case TraceLog::Step::Constant:
      return values_.push_back(inputs_.materialise(log.constants[step.index], step.value ? step.value->type() : nullptr,
                                                   Role::Constant, "c"));
    case TraceLog::Step::Attribute:
      return values_.push_back(attribute(log.constants[step.index].toStringRef()));
    case TraceLog::Step::Tuple:
      return values_.push_back(graph.insertNode(graph.createTuple(operands))->output());
    case TraceLog::Step::List:
      return values_.push_back(
          graph.insertNode(graph.createList(element_type(step.value, operands), operands))->output());
    }
  }

  void copy(Node *node, const std::vector<Value *> &operands) {
    size_t next = 0;
    Node *copy =
        program_.graph->insertNode(program_.graph->createClone(node, [&](Value *) { return operands[next++]; }));
    for (Value *output : copy->outputs())
      values_.push_back(output);
  }

  static c10::TypePtr element_type(const Value *list, const std::vector<Value *> &elements) {
    const auto type = list ? list->type()->cast<c10::ListType>() : nullptr;
    return type ? type->getElementType() : elements.empty() ? c10::TensorType::get() : elements[0]->type();
  }

  Value *attribute(const std::string &path) {
    auto object = model_.module._ivalue();
    std::istringstream names(path);
    std::string name, next;
    for (std::getline(names, name, '.'); std::getline(names, next, '.'); name = next)
      object = object->getAttr(name).toObject();
    const bool parameter = object->type()->is_parameter(object->type()->getAttributeSlot(name));
    return inputs_.materialise(object->getAttr(name), object->type()->getAttribute(name),
                               parameter ? Role::Parameter : Role::Buffer, path);
  }

  const LoadedModel &model_;
  Program &program_;
  InputBuilder inputs_;
  std::vector<Value *> values_; ///< by number
};

/// Runs the model in a sandbox child and follows tensors by their identity: what handles objects, calls and tasks is
/// carried out, every other node becomes one of the Program. What depends on an object but is no tensor (the length of
/// a list of objects) becomes a constant. Throws CannotFlatten.
Program trace_run(const LoadedModel &model, const std::vector<c10::IValue> &arguments, const RunSettings &settings,
                  const Limits &limits) {
  const TraceLog log = log_of_run(model, arguments, settings, limits);
  Program program;
  program.graph = std::make_shared<Graph>();
  program.provenance.source = model.module._ivalue()->compilation_unit();
  try {
    Replay(model, program).run(log, arguments);
  } catch (const CannotMaterialise &error) {
    throw CannotFlatten(error.what());
  }
  torch::jit::EraseShapeInformation(program.graph);
  finish_flat(program);
  drop_unused(program);
  return program;
}

} // namespace

std::pair<Program, bool> flatten_or_trace(const LoadedModel &model, const std::vector<c10::IValue> &arguments,
                                          const RunSettings &settings, const Limits &limits) {
  try {
    return {flatten_calls(model, arguments), false};
  } catch (const CannotFlatten &error) {
    try {
      return {trace_run(model, arguments, settings, limits), true};
    } catch (const CannotFlatten &other) {
      throw CannotFlatten(std::string(error.what()) + ", and its run cannot be followed: " + other.what());
    }
  }
}

} // namespace repro_minify
