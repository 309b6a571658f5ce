#include "program/flat_graph.h"

#include "program/atoms.h"
#include "program/surgery.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/shape_analysis.h>

#include <algorithm>
#include <unordered_map>

namespace repro_minify {
namespace {

using torch::jit::WithInsertPoint;
using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;

/// A packed output becomes its parts, as deep as the packing goes. What is filled after it was made stays as it is.
void unpack_output(Value *value, std::vector<Value *> &parts) {
  if (is_written_to(value)) {
    parts.push_back(value);
    return;
  }
  const auto kind = value->node()->kind();
  if (kind == prim::TupleConstruct || kind == prim::ListConstruct) {
    for (Value *part : value->node()->inputs())
      unpack_output(part, parts);
  } else if (kind == prim::DictConstruct) {
    for (size_t i = 1; i < value->node()->inputs().size(); i += 2)
      unpack_output(value->node()->input(i), parts);
  } else {
    parts.push_back(value);
  }
}

void remove_unused_constants(Block *block) {
  for (auto it = block->nodes().rbegin(); it != block->nodes().rend();) {
    Node *node = *it++;
    for (Block *inner : node->blocks())
      remove_unused_constants(inner);
    if (is_packing(node) && !node->hasUses())
      node->destroy();
  }
}

/// Copies the nodes that were executed, in the order of execution.
class PathCopier {
public:
  PathCopier(const Decisions &decisions, Graph &target, size_t max_nodes)
      : decisions_(decisions), target_(target), max_nodes_(max_nodes) {}

  std::unordered_map<const Value *, Value *> values;

  void copy_block(const Block *block) {
    for (const Node *node : block->nodes()) {
      if (node->kind() == prim::If)
        copy_if(node);
      else if (node->kind() == prim::Loop)
        copy_loop(node);
      else if (node->kind() != prim::Constant || !values.count(node->output()))
        copy_node(node);
    }
  }

private:
  int64_t next_decision() {
    if (next_ >= decisions_.size())
      throw CannotFlatten("the recorded path ends before the graph does");
    return decisions_[next_++];
  }

  void copy_node(const Node *node) {
    if (++copied_ > max_nodes_)
      throw CannotFlatten("the path that was taken has more than " + std::to_string(max_nodes_) + " nodes");
    Node *copy =
        target_.appendNode(target_.createClone(const_cast<Node *>(node), [this](Value *v) { return values.at(v); }));
    for (size_t i = 0; i < node->outputs().size(); ++i)
      values[node->output(i)] = copy->output(i);
  }

  void copy_if(const Node *node) {
    const Block *taken = node->blocks()[next_decision() ? 0 : 1];
    copy_block(taken);
    for (size_t i = 0; i < node->outputs().size(); ++i)
      values[node->output(i)] = values.at(taken->outputs()[i]);
  }

  void copy_loop(const Node *node) {
    const int64_t trips = next_decision();
    const Block *body = node->blocks()[0];
    std::vector<Value *> carried;
    for (size_t i = 2; i < node->inputs().size(); ++i)
      carried.push_back(values.at(node->input(i)));
    for (int64_t trip = 0; trip < trips; ++trip) {
      WithInsertPoint guard(target_.return_node());
      values[body->inputs()[0]] = target_.insertConstant(trip);
      for (size_t i = 0; i < carried.size(); ++i)
        values[body->inputs()[i + 1]] = carried[i];
      copy_block(body);
      for (size_t i = 0; i < carried.size(); ++i)
        carried[i] = values.at(body->outputs()[i + 1]);
    }
    for (size_t i = 0; i < carried.size(); ++i)
      values[node->output(i)] = carried[i];
  }

  const Decisions &decisions_;
  Graph &target_;
  size_t max_nodes_;
  size_t next_ = 0;
  size_t copied_ = 0;
};

using torch::jit::WithInsertPoint;

void lift_tensor_constants(Block *block, InputBuilder &builder) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node *node = *it++;
    for (Block *inner : node->blocks())
      lift_tensor_constants(inner, builder);
    if (node->kind() != prim::Constant)
      continue;
    const auto value = torch::jit::toIValue(node->output());
    bool has_tensor = false;
    if (value)
      for_each_tensor(*value, [&](const at::Tensor &) { has_tensor = true; });
    if (!has_tensor)
      continue;
    WithInsertPoint guard(*node->owningGraph()->nodes().begin());
    node->output()->replaceAllUsesWith(builder.materialise(*value, node->output()->type(), Role::Constant, "c"));
    node->destroy();
  }
}

} // namespace

void unpack_outputs(Graph &graph) {
  std::vector<Value *> parts;
  for (Value *output : graph.outputs())
    unpack_output(output, parts);
  graph.block()->removeAllOutputs();
  for (Value *part : parts)
    if (!part->mustBeNone())
      graph.registerOutput(part);
}

void drop_unused(Program &program) {
  remove_unused_constants(*program.graph);
  std::vector<char> gone;
  for (const Value *input : program.graph->inputs())
    gone.push_back(!input->hasUses());
  erase_inputs(*program.graph, gone);
  std::vector<ProgramInput> left;
  for (size_t i = 0; i < gone.size(); ++i)
    if (!gone[i])
      left.push_back(std::move(program.inputs[i]));
  program.inputs = std::move(left);
}

void remove_unused_constants(Graph &graph) {
  remove_unused_constants(graph.block());
}

Program flatten_calls(const LoadedModel &model, const std::vector<c10::IValue> &arguments) {
  Program program;
  program.graph = model.module.get_method(model.method).graph()->copy();
  program.provenance.source = model.module._ivalue()->compilation_unit();
  Graph &graph = *program.graph;
  inline_calls(program.graph, model.module._ivalue());
  torch::jit::EraseShapeInformation(program.graph);

  const size_t original_inputs = graph.inputs().size();
  InputBuilder builder(program);
  // New inputs go behind the original ones, which are erased when nothing reads them any more.
  std::vector<Value *> originals(graph.inputs().begin(), graph.inputs().end());
  const auto &schema = model.module.get_method(model.method).function().getSchema();
  for (size_t i = 1; i < originals.size(); ++i) {
    WithInsertPoint guard(*graph.nodes().begin());
    try {
      originals[i]->replaceAllUsesWith(
          builder.materialise(arguments.at(i - 1), originals[i]->type(), Role::Input, schema.arguments()[i].name()));
    } catch (const CannotMaterialise &error) {
      throw CannotFlatten("argument '" + schema.arguments()[i].name() + "': " + error.what());
    }
  }
  resolve_attributes(program, builder, originals[0], model.module._ivalue());
  std::vector<char> gone(graph.inputs().size());
  std::fill_n(gone.begin(), original_inputs, 1);
  erase_inputs(graph, gone);
  finish_flat(program);
  return program;
}

bool has_control_flow(const Program &program) {
  return any_node(program.graph->block(), [](const Node *node) { return !node->blocks().empty(); });
}

Program follow_decisions(const Program &program, const Decisions &decisions, size_t max_nodes) {
  Program result;
  result.graph = std::make_shared<Graph>();
  result.inputs = program.inputs;
  result.provenance = program.provenance;
  PathCopier copier(decisions, *result.graph, max_nodes);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    Value *input = result.graph->addInput(program.inputs[i].name);
    input->setType(program.graph->inputs()[i]->type());
    copier.values[program.graph->inputs()[i]] = input;
  }
  copier.copy_block(program.graph->block());
  for (const Value *output : program.graph->outputs())
    result.graph->registerOutput(copier.values.at(output));
  unpack_outputs(*result.graph);
  remove_unused_constants(*result.graph);
  return result;
}

void finish_flat(Program &program) {
  InputBuilder builder(program);
  lift_tensor_constants(program.graph->block(), builder);
  unpack_outputs(*program.graph);
  remove_unused_constants(*program.graph);
}

} // namespace repro_minify
