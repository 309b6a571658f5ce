// The canonical hash: the name under which a Program's Verdict is remembered, whatever its graph went through.
#include "core/digest.h"
#include "program/atoms.h"
#include "program/graph.h"
#include "program/value_digest.h"
#include "program/values.h"
#include "repro_minify/program.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

namespace repro_minify {
namespace {

using torch::jit::AttributeKind;

/// Returns the Symbol's name, to be hashed: the number of one that is not built in depends on what the process met
/// first.
const std::string &name_of(c10::Symbol symbol) {
  static thread_local std::unordered_map<c10::Symbol, std::string> known;
  const auto [entry, is_new] = known.try_emplace(symbol);
  if (is_new)
    entry->second = symbol.toQualString();
  return entry->second;
}

class ProgramHasher {
public:
  std::string hash(const Program &program) {
    hash_block(program.graph->block());
    // Which inputs share storage changes what an in-place operator does: part of the identity, by first occurrence.
    std::unordered_map<void *, uint64_t> storages;
    for (const auto &input : program.inputs) {
      digest_.add(static_cast<uint64_t>(input.role));
      add_value(digest_, input.value);
      for_each_tensor(input.value, [&](const at::Tensor &tensor) {
        digest_.add(storages.emplace(storage_of(tensor), storages.size()).first->second);
      });
    }
    for (const auto kind : program.provenance.hidden_aliases) // what the loader would do to them depends on it
      if (kinds_.count(kind))
        digest_.add(name_of(kind));
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
    kinds_.insert(node->kind());
    digest_.add(name_of(node->kind()));
    if (const auto *schema = node->maybeSchema())
      digest_.add(schema->overload_name());
    hash_attributes(node);
    digest_.add(uint64_t{node->inputs().size()});
    for (const Value *input : node->inputs())
      hash_operand(input, node->owningBlock());
    digest_.add(uint64_t{node->outputs().size()});
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
    if (node->kind() == prim::Constant)
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
    if (const auto value = torch::jit::toIValue(constant))
      add_value(digest_, *value);
    else
      digest_.add(type.str());
  }

  void hash_attributes(const Node *node) {
    for (const auto name : node->attributeNames()) {
      digest_.add(name_of(name));
      digest_.add(static_cast<uint64_t>(node->kindOf(name)));
      hash_attribute(node, name);
    }
  }

  void add(int64_t number) { digest_.add(static_cast<uint64_t>(number)); }
  void add(double number) { digest_.add(std::bit_cast<uint64_t>(number)); }
  void add(const c10::complex<double> &number) { add_value(digest_, number); }
  void add(const std::string &text) { digest_.add(text); }
  void add(const at::Tensor &tensor) { add_value(digest_, tensor); }
  void add(const c10::TypePtr &type) { digest_.add(type->str()); }
  void add(const std::shared_ptr<Graph> &graph) {
    Program inner;
    inner.graph = graph;
    digest_.add(ProgramHasher().hash(inner));
  }
  template <typename T> void add_all(const std::vector<T> &values) {
    digest_.add(uint64_t{values.size()});
    for (const auto &value : values)
      add(value);
  }

  void hash_attribute(const Node *node, c10::Symbol name) {
#define ONE_OR_SEVERAL(kind)                                                                                           \
  case AttributeKind::kind:                                                                                            \
    return add(node->kind(name));                                                                                      \
  case AttributeKind::kind##s:                                                                                         \
    return add_all(node->kind##s(name))
    switch (node->kindOf(name)) {
      ONE_OR_SEVERAL(i);
      ONE_OR_SEVERAL(f);
      ONE_OR_SEVERAL(c);
      ONE_OR_SEVERAL(s);
      ONE_OR_SEVERAL(t);
      ONE_OR_SEVERAL(g);
      ONE_OR_SEVERAL(ty);
    case AttributeKind::ival:
      add_value(digest_, node->ival(name));
    }
#undef ONE_OR_SEVERAL
  }

  Digest digest_;
  std::vector<uint64_t> numbers_; ///< by Value::unique(); 0: not met yet
  uint64_t count_ = 0;
  std::unordered_set<c10::Symbol> kinds_;
};

} // namespace

std::string canonical_hash(const Program &program) {
  return ProgramHasher().hash(program);
}

} // namespace repro_minify
