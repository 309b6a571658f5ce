#include "repro_minify/program.h"

#include "program/atoms.h"
#include "program/double_precision.h"
#include "program/objects.h"
#include "program/outline.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <unordered_map>

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

/// What canonical_hash feeds: 128 bits, a word at a time.
class Digest {
public:
  void add(uint64_t word) {
    low_ = mixed(low_ ^ word, 0x9E3779B97F4A7C15ull);
    high_ = mixed(high_ + word, 0xC2B2AE3D27D4EB4Full);
  }
  void add(std::string_view text) {
    add(text.size());
    for (; text.size() >= sizeof(uint64_t); text.remove_prefix(sizeof(uint64_t)))
      add(word_of(text.data(), sizeof(uint64_t)));
    if (!text.empty())
      add(word_of(text.data(), text.size()));
  }
  uint64_t low() const { return low_; }
  std::string text() const {
    std::ostringstream out;
    out << std::hex << std::setfill('0') << std::setw(16) << high_ << std::setw(16) << low_;
    return out.str();
  }

private:
  static uint64_t mixed(uint64_t word, uint64_t factor) {
    word *= factor;
    word ^= word >> 32;
    word *= factor;
    return word ^ (word >> 29);
  }
  static uint64_t word_of(const char *text, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, text, size);
    return word;
  }

  uint64_t low_ = 0x243F6A8885A308D3ull, high_ = 0x13198A2E03707344ull;
};

/// By name: the number of a Symbol that is not built in depends on what the process met first.
uint64_t hash_of_symbol(c10::Symbol symbol) {
  static thread_local std::unordered_map<c10::Symbol, uint64_t> known;
  const auto [entry, is_new] = known.try_emplace(symbol, 0);
  if (is_new) {
    Digest name;
    name.add(symbol.toQualString());
    entry->second = name.low();
  }
  return entry->second;
}

class ProgramHasher {
public:
  std::string hash(const Program &program) {
    hash_block(program.graph->block());
    // Which inputs share storage changes what an in-place operator does: part of the identity, by first occurrence.
    std::unordered_map<void *, size_t> storages;
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const auto &input = program.inputs[i];
      digest_.add(static_cast<uint64_t>(input.role));
      digest_.add(hash_value(input.value));
      if (input.value.isTensor())
        digest_.add(storages.emplace(storage_of(input.value.toTensor()), i).first->second);
    }
    return digest_.text();
  }

private:
  /// No number of a value: two lists in a row cannot be taken for others, nor a constant for a value.
  enum Mark : uint64_t {
    EndOfInputs = ~0ull,
    EndOfNodes = ~1ull,
    EndOfBlock = ~2ull,
    BeginOfBlock = ~3ull,
    IsConstant = ~4ull,
    IsPacking = ~5ull
  };

  /// In the order of first use; a Value's own number is dense in its graph, but says how the graph was edited.
  uint64_t number(const Value *value) {
    const size_t index = value->unique();
    if (index >= numbers_.size())
      numbers_.resize(std::max(index + 1, 2 * numbers_.size()));
    if (numbers_[index] == 0)
      numbers_[index] = ++count_;
    return numbers_[index];
  }
  bool is_numbered(const Value *value) const {
    return value->unique() < numbers_.size() && numbers_[value->unique()] > 0;
  }

  void hash_block(const Block *block) {
    digest_.add(BeginOfBlock);
    for (const Value *input : block->inputs())
      digest_.add(number(input));
    digest_.add(EndOfInputs);
    for (const Node *node : block->nodes())
      if (!is_packing(node))
        hash_node(node);
    digest_.add(EndOfNodes);
    for (const Value *output : block->outputs())
      hash_operand(output, block);
    digest_.add(EndOfBlock);
  }

  void hash_node(const Node *node) {
    digest_.add(hash_of_symbol(node->kind()));
    if (const auto *schema = node->maybeSchema())
      digest_.add(schema->overload_name());
    hash_attributes(node);
    digest_.add(node->inputs().size());
    for (const Value *input : node->inputs())
      hash_operand(input, node->owningBlock());
    digest_.add(node->outputs().size());
    for (const Value *output : node->outputs())
      digest_.add(number(output));
    for (const Block *inner : node->blocks())
      hash_block(inner);
  }

  static uint64_t blocks_between(const Block *outer, const Block *inner) {
    uint64_t count = 0;
    for (; inner != outer; inner = inner->owningNode()->owningBlock())
      ++count;
    return count;
  }

  /// Where a constant stands, and whether two readers share it, is an accident of how the graph came about. So is where
  /// a list is put together, as long as it is in the same block: only its readers can write to it.
  void hash_operand(const Value *value, const Block *reader) {
    const Node *node = value->node();
    if (node->kind() == torch::jit::prim::Constant)
      return hash_constant(value);
    if (is_packing(node) && !is_numbered(value)) {
      digest_.add(IsPacking);
      digest_.add(blocks_between(node->owningBlock(), reader));
      hash_node(node);
    }
    digest_.add(number(value));
  }

  void hash_constant(const Value *constant) {
    digest_.add(IsConstant);
    const auto &type = *constant->type();
    digest_.add(static_cast<uint64_t>(type.kind()));
    if (!type.containedTypes().empty())
      digest_.add(type.str());
    const auto value = torch::jit::toIValue(constant);
    if (!value)
      digest_.add(type.str());
    else if (value->isInt())
      digest_.add(static_cast<uint64_t>(value->toInt()));
    else if (value->isBool())
      digest_.add(value->toBool());
    else if (value->isDouble())
      digest_.add(std::bit_cast<uint64_t>(value->toDouble()));
    else
      digest_.add(value->isNone() ? 0 : hash_value(*value));
  }

  void hash_attributes(const Node *node) {
    for (const auto name : node->attributeNames()) {
      digest_.add(name.toUnqualString());
      digest_.add(static_cast<uint64_t>(node->kindOf(name)));
      std::ostringstream text;
      switch (node->kindOf(name)) {
      case torch::jit::AttributeKind::i:
        text << node->i(name);
        break;
      case torch::jit::AttributeKind::f:
        text << std::hexfloat << node->f(name);
        break;
      case torch::jit::AttributeKind::s:
        text << node->s(name);
        break;
      case torch::jit::AttributeKind::is:
        text << c10::Join(",", node->is(name));
        break;
      case torch::jit::AttributeKind::ty:
        text << *node->ty(name);
        break;
      case torch::jit::AttributeKind::tys:
        for (const auto &type : node->tys(name))
          text << *type << ',';
        break;
      default:
        break;
      }
      digest_.add(text.str());
    }
  }

  Digest digest_;
  std::vector<uint64_t> numbers_; ///< by Value::unique(); 0: not met yet
  uint64_t count_ = 0;
};

void count(const Block *block, ProgramSize &size) {
  for (const Node *node : block->nodes()) {
    ++size.nodes;
    size.operators += counts_as_operator(node);
    for (const Block *inner : node->blocks())
      count(inner, size);
  }
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
      if (node->kind() != torch::jit::prim::Constant || !is_opaque_class(node->output()->type()))
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
  static const std::set<c10::Symbol> uncounted = {torch::jit::prim::Constant,       torch::jit::prim::GetAttr,
                                                  torch::jit::prim::SetAttr,        torch::jit::prim::ListConstruct,
                                                  torch::jit::prim::TupleConstruct, torch::jit::prim::ListUnpack,
                                                  torch::jit::prim::TupleUnpack,    torch::jit::prim::NumToTensor,
                                                  torch::jit::prim::RaiseException, torch::jit::prim::AutogradZero};
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

std::string canonical_hash(const Program &program) {
  return ProgramHasher().hash(program);
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
  ObjectAttributes(module, self, [&](const c10::IValue &object) {
    return options.clone_values ? cloner.clone(object) : object;
  }).take_from(graph->block());
  pack_outputs(*graph);
  outline_hidden_aliases(module, *graph, program.provenance.hidden_aliases);
  auto *function = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module._ivalue()->type()->name(), "forward"), graph);
  module._ivalue()->type()->addMethod(function);
  return instance;
}

} // namespace repro_minify
