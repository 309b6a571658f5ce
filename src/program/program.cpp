#include "repro_minify/program.h"

#include "program/atoms.h"
#include "program/double_precision.h"
#include "program/outline.h"
#include "program/parts.h"
#include "program/surgery.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <bit>
#include <cstring>
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

  /// What reads the new attribute.
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

std::string canonical_hash(const Program &program) {
  return ProgramHasher().hash(program);
}

namespace {

Instance make_instance(const Program &program, const InstantiateOptions &options, bool in_parts) {
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
  const auto count = std::count_if(program.inputs.begin(), program.inputs.end(), is_attribute);
  Attributes attributes(module, *graph, in_parts && count > Attributes::many);
  std::vector<char> gone(graph->inputs().size());
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const auto &input = program.inputs[i];
    Value *value = graph->inputs()[i + 1];
    auto data = options.clone_values ? cloner.clone(input.value) : input.value;
    if (input.role == Role::Input) {
      if (value->debugName() != input.name)
        value->setDebugName(input.name);
      instance.arguments.push_back(std::move(data));
      continue;
    }
    torch::jit::WithInsertPoint guard(*graph->nodes().begin());
    value->replaceAllUsesWith(input.role == Role::Constant ? graph->insertConstant(data.toTensor().detach())
                                                           : attributes.add(input, data.toTensor()));
    gone[i + 1] = 1;
  }
  attributes.finish();
  erase_inputs(*graph, gone);
  pack_outputs(*graph);
  outline_hidden_aliases(module, *graph, program.provenance.hidden_aliases);
  auto *function = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module._ivalue()->type()->name(), "forward"), graph);
  module._ivalue()->type()->addMethod(function);
  return instance;
}

} // namespace

Instance instantiate(const Program &program, const InstantiateOptions &options) {
  return make_instance(program, options, /*in_parts=*/false);
}

Instance instantiate_in_parts(const Program &program, const InstantiateOptions &options) {
  return make_instance(program, options, /*in_parts=*/true);
}

} // namespace repro_minify
