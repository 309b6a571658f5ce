#include "program/materialise.h"

#include "program/cpu_arguments.h"
#include "program/module_edits.h"
#include "program/python_call.h"
#include "program/surgery.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

namespace repro_minify {
namespace {

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
    graph.block()->removeAllOutputs();
  }
  graph.registerOutput(packed);
}

/// Gives the module of a Program its parameters and buffers.
class Attributes {
public:
  Attributes(torch::jit::Module &module, Graph &graph, bool spread) : module_(module), graph_(graph), spread_(spread) {}

  /// More than a small program has: what is handed over in the end has no parts.
  static constexpr std::ptrdiff_t many = 256;

  /// Adds a parameter or buffer, and returns the value in the graph that reads it.
  Value *add(const ProgramInput &input, at::Tensor data) {
    if (spread_ && added_++ % in_one_part == 0)
      begin_part();
    torch::jit::Module &owner = spread_ ? part_ : module_;
    owner.register_parameter(input.name, std::move(data), /*is_buffer=*/input.role == Role::Buffer);
    return graph_.insertGetAttr(spread_ ? parts_.back()->output() : graph_.inputs()[0], input.name);
  }
  /// Called last: parts stand in front of all that is read of them.
  void finish() {
    for (Node *part : parts_)
      graph_.prependNode(part);
  }

private:
  static constexpr std::ptrdiff_t in_one_part = 64;

  void begin_part() {
    const std::string number = std::to_string(parts_.size() + 1);
    part_ = torch::jit::Module(c10::QualifiedName("__torch__.Part" + number), module_._ivalue()->compilation_unit());
    part_.register_attribute("training", c10::BoolType::get(), false);
    module_.register_module("part_" + number, part_);
    parts_.push_back(graph_.createGetAttr(graph_.inputs()[0], "part_" + number));
  }

  torch::jit::Module &module_;
  Graph &graph_;
  const bool spread_;
  std::ptrdiff_t added_ = 0;
  torch::jit::Module part_; ///< the last one
  std::vector<Node *> parts_;
};

bool is_attribute(const ProgramInput &input) {
  return input.role == Role::Parameter || input.role == Role::Buffer;
}

/// Objects of C++ classes are constants of a Program's graph, and attributes of its module: where the model had them.
/// `clone` copies one.
class ObjectAttributes {
public:
  ObjectAttributes(torch::jit::Module &module, Value *self, std::function<c10::IValue(const c10::IValue &)> clone)
      : module_(module), self_(self), clone_(std::move(clone)) {}

  void take_from(Block *block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node *node = *it++;
      for (Block *inner : node->blocks())
        take_from(inner);
      if (node->kind() != prim::Constant || !is_opaque_class(node->output()->type()))
        continue;
      torch::jit::WithInsertPoint guard(node);
      node->output()->replaceAllUsesWith(
          node->owningGraph()->insertGetAttr(self_, name_of(torch::jit::toIValue(node->output()).value())));
      node->destroy();
    }
  }

private:
  const std::string &name_of(const c10::IValue &object) {
    std::string &name = names_[&object.toObjectRef()];
    if (name.empty()) {
      do
        name = "packed_" + std::to_string(++count_);
      while (module_.hasattr(name));
      module_.register_attribute(name, object.type(), clone_(object));
    }
    return name;
  }

  torch::jit::Module &module_;
  Value *self_;
  std::function<c10::IValue(const c10::IValue &)> clone_;
  std::unordered_map<const void *, std::string> names_;
  int count_ = 0;
};

/// Makes arguments of the inputs, and attributes or constants of the rest. Returns which of the graph's inputs are
/// gone.
std::vector<char> bind_inputs(const Program &program, const InstantiateOptions &options, ArgumentCloner &cloner,
                              Graph &graph, Attributes &attributes, std::vector<c10::IValue> &arguments) {
  std::vector<char> gone(graph.inputs().size());
  // In the inputs' order, which a program that is saved and loaded then keeps: a pass may depend on it.
  const torch::jit::WithInsertPoint before_all_nodes(*graph.nodes().begin());
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const auto &input = program.inputs[i];
    Value *value = graph.inputs()[i + 1];
    auto data = options.clone_values ? cloner.clone(i, input.value) : input.value;
    if (input.role == Role::Input) {
      if (value->debugName() != input.name)
        value->setDebugName(input.name);
      arguments.push_back(std::move(data));
      continue;
    }
    value->replaceAllUsesWith(input.role == Role::Constant ? graph.insertConstant(data.toTensor().detach())
                                                           : attributes.add(input, data.toTensor()));
    gone[i + 1] = 1;
  }
  return gone;
}

bool returns_alias(const c10::FunctionSchema &schema) {
  for (const auto &result : schema.returns())
    if (result.alias_info())
      return true;
  return false;
}

/// True if an in-place operator writes to `value`, itself or through views that their schema declares. A write to an
/// element of a list does not count: TorchScript keeps it.
bool is_written_through(const Value *value) {
  for (const auto &use : value->uses()) {
    const auto *schema = use.user->maybeSchema();
    if (!schema || use.offset >= schema->arguments().size())
      continue;
    const auto *alias = schema->arguments()[use.offset].alias_info();
    if (!alias)
      continue;
    if (alias->isWrite())
      return true;
    if (returns_alias(*schema) && value->type()->kind() != c10::TypeKind::ListType)
      for (const Value *output : use.user->outputs())
        if (is_written_through(output))
          return true;
  }
  return false;
}

void collect(Block *block, const std::set<c10::Symbol> &kinds, std::vector<Node *> &found) {
  for (Node *node : block->nodes()) {
    for (Block *inner : node->blocks())
      collect(inner, kinds, found);
    if (kinds.count(node->kind()) && node->outputs().size() == 1 && is_written_through(node->output()))
      found.push_back(node);
  }
}

/// forward's operands that are no constants become the method's arguments; lists are built inside it.
class MethodBuilder {
public:
  MethodBuilder(torch::jit::Module &module, Value *self)
      : graph_(std::make_shared<Graph>()), module_(module), arguments_{self} {
    graph_->addInput("self")->setType(module._ivalue()->type());
  }

  void outline(Node *node, const std::string &name) {
    Node *copy = graph_->appendNode(graph_->createClone(node, [this](Value *v) { return inside(v); }));
    graph_->registerOutput(copy->output());
    auto *function = module_._ivalue()->compilation_unit()->create_function(
        c10::QualifiedName(*module_._ivalue()->type()->name(), name), graph_);
    module_._ivalue()->type()->addMethod(function);
    Graph *outer = node->owningGraph();
    Node *call = outer->create(prim::CallMethod, arguments_, 1);
    call->s_(torch::jit::attr::name, name);
    call->output()->setType(node->output()->type());
    call->insertBefore(node);
    node->output()->replaceAllUsesWith(call->output());
    node->destroy();
  }

private:
  Value *inside(Value *value) {
    const auto known = values_.find(value);
    if (known != values_.end())
      return known->second;
    Value *result;
    const auto kind = value->node()->kind();
    if (kind == prim::Constant || kind == prim::ListConstruct) {
      result = graph_->appendNode(graph_->createClone(value->node(), [this](Value *v) { return inside(v); }))->output();
    } else {
      result = graph_->addInput()->setType(value->type());
      result->setDebugName(std::string(1, static_cast<char>('a' + (arguments_.size() - 1) % 26)));
      arguments_.push_back(value);
    }
    values_[value] = result;
    return result;
  }

  std::shared_ptr<Graph> graph_;
  torch::jit::Module &module_;
  std::vector<Value *> arguments_;
  std::unordered_map<Value *, Value *> values_;
};

/// Each node of one of these kinds whose result is written to later becomes a call of a new method of `module` that
/// does nothing else. The first input of `graph` is self.
void outline_hidden_aliases(torch::jit::Module &module, Graph &graph, const std::set<c10::Symbol> &kinds) {
  std::vector<Node *> found;
  if (!kinds.empty())
    collect(graph.block(), kinds, found);
  int number = 0;
  for (Node *node : found)
    MethodBuilder(module, graph.inputs()[0])
        .outline(node,
                 "call_" + std::string(node->kind().toUnqualString()) + (number++ ? "_" + std::to_string(number) : ""));
}

Instance make_instance(const Program &program, const InstantiateOptions &options, bool in_parts) {
  auto graph = program.graph->copy();
  if (options.double_precision)
    widen_graph(graph->block(), std::none_of(program.inputs.begin(), program.inputs.end(),
                                             [](const ProgramInput &input) { return is_double(input.value); }));
  torch::jit::Module module("__torch__.Repro");
  module.register_attribute("training", c10::BoolType::get(), false);
  Value *self = graph->insertInput(0, "self");
  self->setType(module._ivalue()->type());

  ArgumentCloner cloner(
      {.requires_grad = options.requires_grad, .double_precision = options.double_precision, .device = options.device},
      *program.graph);
  Instance instance{module, {}};
  const auto count = std::count_if(program.inputs.begin(), program.inputs.end(), is_attribute);
  Attributes attributes(module, *graph, in_parts && count > Attributes::many);
  const std::vector<char> gone = bind_inputs(program, options, cloner, *graph, attributes, instance.arguments);
  attributes.finish();
  erase_inputs(*graph, gone);
  ObjectAttributes(module, self, [&](const c10::IValue &object) {
    return options.clone_values ? cloner.others().clone(object) : object;
  }).take_from(graph->block());
  pack_outputs(*graph);
  outline_hidden_aliases(module, *graph, program.provenance.hidden_aliases);
  auto *function = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module._ivalue()->type()->name(), "forward"), graph);
  module._ivalue()->type()->addMethod(function);
  return instance;
}

} // namespace

const char *to_string(Role role) {
  constexpr const char *names[] = {"input", "parameter", "buffer", "constant"};
  return names[static_cast<size_t>(role)];
}

bool counts_as_operator(const Node *node) {
  static const std::set<c10::Symbol> uncounted = {
      prim::Constant,   prim::GetAttr,     prim::SetAttr,     prim::ListConstruct,  prim::TupleConstruct,
      prim::ListUnpack, prim::TupleUnpack, prim::NumToTensor, prim::RaiseException, prim::AutogradZero};
  return uncounted.count(node->kind()) == 0;
}

ProgramSize size_of(const Program &program) {
  ProgramSize size;
  for (const Node *node : all_nodes(*program.graph)) {
    ++size.nodes;
    size.operators += counts_as_operator(node) + (is_python_call(node) ? calls_in_graphs_of(node) : 0);
  }
  for (const auto &input : program.inputs)
    size.inputs += input.role == Role::Input;
  size.outputs = static_cast<int>(program.graph->outputs().size());
  return size;
}

Instance instantiate(const Program &program, const InstantiateOptions &options) {
  return make_instance(program, options, /*in_parts=*/false);
}

Instance instantiate_in_parts(const Program &program, const InstantiateOptions &options) {
  return make_instance(program, options, /*in_parts=*/true);
}

} // namespace repro_minify
