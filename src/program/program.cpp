#include "repro_minify/program.h"

#include "program/double_precision.h"
#include "program/outline.h"
#include "program/values.h"

#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <set>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

/// forward returns one value: what the Program's outputs are packed into.
void pack_outputs(Graph &graph) {
  if (graph.outputs().size() == 1)
    return;
  torch::jit::WithInsertPoint guard(graph.return_node());
  Value *packed;
  if (graph.outputs().empty()) {
    packed = graph.insertConstant(c10::IValue());
  } else {
    std::vector<Value *> outputs(graph.outputs().begin(), graph.outputs().end());
    packed = graph.insertNode(graph.createTuple(outputs))->output();
    while (!graph.outputs().empty())
      graph.eraseOutput(0);
  }
  graph.registerOutput(packed);
}

void count(const Block *block, ProgramSize &size) {
  for (const Node *node : block->nodes()) {
    ++size.nodes;
    size.operators += counts_as_operator(node);
    for (const Block *inner : node->blocks())
      count(inner, size);
  }
}

} // namespace

const char *to_string(Role role) {
  switch (role) {
  case Role::Input:
    return "input";
  case Role::Parameter:
    return "parameter";
  case Role::Buffer:
    return "buffer";
  case Role::Constant:
    return "constant";
  }
  return "?";
}

bool counts_as_operator(const Node *node) {
  static const std::set<c10::Symbol> uncounted = {
      torch::jit::prim::Constant,      torch::jit::prim::GetAttr,        torch::jit::prim::SetAttr,
      torch::jit::prim::ListConstruct, torch::jit::prim::TupleConstruct, torch::jit::prim::ListUnpack,
      torch::jit::prim::TupleUnpack,   torch::jit::prim::NumToTensor,    torch::jit::prim::RaiseException};
  return uncounted.count(node->kind()) == 0;
}

ProgramSize size_of(const Program &program) {
  ProgramSize size;
  count(program.graph->block(), size);
  for (const auto &input : program.inputs)
    size.inputs += input.role == Role::Input;
  size.outputs = static_cast<int>(program.graph->outputs().size());
  return size;
}

Instance instantiate(const Program &program, const InstantiateOptions &options) {
  auto graph = program.graph->copy();
  if (options.double_precision)
    widen_graph(graph->block());
  torch::jit::Module module("__torch__.Repro");
  module.register_attribute("training", c10::BoolType::get(), false);
  Value *self = graph->insertInput(0, "self");
  self->setType(module._ivalue()->type());

  SharedCloner cloner(
      {.requires_grad = options.requires_grad, .double_precision = options.double_precision, .device = options.device});
  Instance instance{module, {}};
  size_t position = 1;
  for (const auto &input : program.inputs) {
    Value *value = graph->inputs()[position];
    auto data = options.clone_values ? cloner.clone(input.value) : input.value;
    if (input.role == Role::Input) {
      if (value->debugName() != input.name)
        value->setDebugName(input.name);
      instance.arguments.push_back(std::move(data));
      ++position;
      continue;
    }
    torch::jit::WithInsertPoint guard(*graph->nodes().begin());
    Value *replacement;
    if (input.role == Role::Constant) {
      replacement = graph->insertConstant(data.toTensor().detach());
    } else {
      module.register_parameter(input.name, data.toTensor(), /*is_buffer=*/input.role == Role::Buffer);
      replacement = graph->insertGetAttr(self, input.name);
    }
    value->replaceAllUsesWith(replacement);
    graph->eraseInput(position);
  }
  pack_outputs(*graph);
  outline_hidden_aliases(module, *graph, program.provenance.hidden_aliases);
  auto *function = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module._ivalue()->type()->name(), "forward"), graph);
  module._ivalue()->type()->addMethod(function);
  return instance;
}

} // namespace repro_minify
