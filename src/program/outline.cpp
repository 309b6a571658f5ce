#include "program/outline.h"

#include <torch/csrc/jit/ir/constants.h>

#include <unordered_map>
#include <vector>

namespace repro_minify {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool returns_alias(const c10::FunctionSchema &schema) {
  for (const auto &result : schema.returns())
    if (result.alias_info())
      return true;
  return false;
}

/// True if an in-place operator writes to `value`, itself or through views that their schema declares.
bool is_written_to(const Value *value) {
  for (const auto &use : value->uses()) {
    const auto *schema = use.user->maybeSchema();
    if (!schema || use.offset >= schema->arguments().size())
      continue;
    const auto *alias = schema->arguments()[use.offset].alias_info();
    if (!alias)
      continue;
    if (alias->isWrite())
      return true;
    if (returns_alias(*schema))
      for (const Value *output : use.user->outputs())
        if (is_written_to(output))
          return true;
  }
  return false;
}

void collect(Block *block, const std::set<c10::Symbol> &kinds, std::vector<Node *> &found) {
  for (Node *node : block->nodes()) {
    for (Block *inner : node->blocks())
      collect(inner, kinds, found);
    if (kinds.count(node->kind()) && node->outputs().size() == 1 && is_written_to(node->output()))
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
    Node *call = outer->create(torch::jit::prim::CallMethod, arguments_, 1);
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
    if (kind == torch::jit::prim::Constant || kind == torch::jit::prim::ListConstruct) {
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

} // namespace

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

} // namespace repro_minify
