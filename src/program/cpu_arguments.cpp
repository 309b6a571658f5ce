#include "program/cpu_arguments.h"

#include "repro_minify/record.h"

#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

namespace repro_minify {
namespace {

struct CpuArgument {
  std::string_view op, argument;
};

/// Each operator checks it: ATen/native/PackedSequence.cpp, RNN.cpp, TensorShape.cpp.
constexpr std::array table = {CpuArgument{"aten::_pack_padded_sequence", "lengths"},
                              CpuArgument{"aten::_pack_padded_sequence_backward", "batch_sizes"},
                              CpuArgument{"aten::_pad_packed_sequence", "batch_sizes"},
                              CpuArgument{"aten::lstm", "batch_sizes"},
                              CpuArgument{"aten::gru", "batch_sizes"},
                              CpuArgument{"aten::rnn_tanh", "batch_sizes"},
                              CpuArgument{"aten::rnn_relu", "batch_sizes"},
                              CpuArgument{"aten::quantized_lstm", "batch_sizes"},
                              CpuArgument{"aten::quantized_gru", "batch_sizes"},
                              CpuArgument{"aten::tensor_split", "tensor_indices_or_sections"}};

/// Returns the arguments of the node that have to be on the CPU; none for most.
std::vector<const Value *> cpu_arguments(const Node *node) {
  std::vector<const Value *> found;
  const auto *schema = node->maybeSchema();
  for (size_t i = 0; schema && i < node->inputs().size() && i < schema->arguments().size(); ++i)
    for (const CpuArgument &row : table)
      if (schema->name() == row.op && schema->arguments()[i].name() == row.argument)
        found.push_back(node->input(i));
  return found;
}

bool may_be_tensor(const Value *value) {
  return value->type()->isSubtypeOf(*c10::OptionalType::ofTensor());
}

/// Follows values back to the inputs that they are made of, as long as nothing names a device.
class Origins {
public:
  void follow(const Value *value) {
    const Node *node = value->node();
    if (!may_be_tensor(value) || !seen_.insert(value).second || is_moved(node))
      return;
    if (node->kind() == prim::TupleUnpack || node->kind() == prim::TupleIndex)
      return follow_element(value, node);
    for (const Block *block : node->blocks()) // of a loop it is the condition, and what comes after it
      for (size_t i = 0; i < node->outputs().size(); ++i)
        if (node->output(i) == value)
          follow(block->outputs()[i + (node->kind() == prim::Loop)]);
    const auto wanted = cpu_arguments(node);
    if (wanted.empty() && node->blocks().empty())
      for (const Value *input : node->inputs())
        follow(input);
    for (const Value *input : wanted)
      follow(input);
  }
  bool has(const Value *value) const { return seen_.count(value) > 0; }

private:
  static bool is_moved(const Node *node) {
    const std::string_view name = node->kind().toQualString();
    if (name == "aten::cpu" || name == "aten::cuda")
      return true;
    const auto *schema = node->maybeSchema();
    const auto device = schema ? schema->argumentIndexWithName("device") : std::nullopt;
    return device && static_cast<size_t>(*device) < node->inputs().size() &&
           node->input(static_cast<size_t>(*device))->type()->kind() != c10::TypeKind::NoneType;
  }

  void follow_element(const Value *value, const Node *node) {
    const Node *tuple = node->input(0)->node();
    if (tuple->kind() != prim::TupleConstruct)
      return;
    const auto index = node->kind() == prim::TupleUnpack
                           ? static_cast<int64_t>(value->offset())
                           : torch::jit::constant_as<int64_t>(node->input(1)).value_or(-1);
    if (index >= 0 && static_cast<size_t>(index) < tuple->inputs().size())
      follow(tuple->input(static_cast<size_t>(index)));
  }

  std::unordered_set<const Value *> seen_;
};

bool is_for_a_device(const CloneOptions &options) {
  return options.device && !options.device->is_cpu();
}

CloneOptions on_the_cpu(CloneOptions options) {
  options.device = c10::kCPU;
  return options;
}

/// Returns the same for each argument of a method, without `self`, with its calls followed.
std::vector<bool> arguments_on_cpu(const torch::jit::Module &module, const std::string &method) {
  const auto graph = module.get_method(method).graph()->copy();
  torch::jit::Inline(*graph);
  std::vector<bool> result = inputs_on_cpu(*graph);
  result.erase(result.begin());
  return result;
}

} // namespace

std::vector<bool> inputs_on_cpu(const Graph &graph) {
  Origins origins;
  for (const Node *node : all_nodes(graph))
    for (const Value *argument : cpu_arguments(node))
      origins.follow(argument);
  std::vector<bool> result;
  for (const Value *input : graph.inputs())
    result.push_back(origins.has(input));
  return result;
}

ArgumentCloner::ArgumentCloner(const CloneOptions &options) : there_(options), here_(on_the_cpu(options)) {}

ArgumentCloner::ArgumentCloner(const CloneOptions &options, const Graph &graph) : ArgumentCloner(options) {
  if (is_for_a_device(options))
    on_cpu_ = inputs_on_cpu(graph);
}

ArgumentCloner::ArgumentCloner(const CloneOptions &options, const torch::jit::Module &module, const std::string &method)
    : ArgumentCloner(options) {
  if (is_for_a_device(options))
    on_cpu_ = arguments_on_cpu(module, method);
}

c10::IValue ArgumentCloner::clone(size_t argument, const c10::IValue &value) {
  return (!on_cpu_.empty() && on_cpu_.at(argument) ? here_ : there_).clone(value);
}

} // namespace repro_minify
