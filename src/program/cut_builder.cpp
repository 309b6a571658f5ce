#include "program/cut_builder.h"

#include "program/flat_graph.h"
#include "program/python_call.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

namespace repro_minify {
namespace {

using torch::jit::WithInsertPoint;

/// Builds one cut. `resolve` is the heart: which value of the new graph stands for a version of an old one.
class CutBuilder {
public:
  CutBuilder(const AtomIndex &index, const OriginalInputs &originals, const KeptAtoms &kept)
      : index_(index), originals_(originals), kept_(kept), recording_(*index.recording),
        inputs_(program_, &originals.names) {
    program_.graph = std::make_shared<Graph>();
    program_.provenance = recording_.program.provenance;
    current_ = graph().return_node();
  }

  Program build(const std::vector<int> &nodes, const std::vector<Version> &exposed, std::vector<size_t> &output_of) {
    for (int node : nodes)
      copy_node(recording_.nodes[node], graph().block());
    std::unordered_map<const Value *, size_t> outputs;
    current_ = graph().return_node();
    for (const Version &version : exposed) {
      Value *value = resolve(version);
      const auto [output, is_new] = outputs.emplace(value, outputs.size());
      if (is_new)
        graph().registerOutput(value);
      output_of.push_back(output->second);
    }
    order_inputs();
    drop_unused(program_);
    return std::move(program_);
  }

private:
  Graph &graph() { return *program_.graph; }
  bool keeps(int atom) const { return atom >= 0 && kept_.member[atom]; }

  bool is_original_input(const Value *value) const { return value->node() == recording_.program.graph->param_node(); }

  Value *add_original_input(size_t position) {
    Value *added = inputs_.add_input(originals_.inputs[position]);
    positions_[added] = position;
    return added;
  }

  /// Those of the original signature first, in its order.
  void order_inputs() {
    const auto position_of = [&](size_t i) {
      const auto found = positions_.find(graph().inputs()[i]);
      return found == positions_.end() ? originals_.inputs.size() : found->second;
    };
    std::vector<size_t> order(program_.inputs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return position_of(a) < position_of(b); });
    std::vector<ProgramInput> inputs;
    for (size_t i : order)
      inputs.push_back(std::move(program_.inputs[i]));
    program_.inputs = std::move(inputs);
    graph().block()->permuteInputs(order);
  }

  Value *resolve(const Version &version) {
    const auto known = values_.find(version);
    if (known != values_.end())
      return known->second;
    const auto produced = version.second == no_writer ? produced_.find(version.first) : produced_.end();
    Value *result;
    if (produced != produced_.end())
      result = produced->second;
    else if (version.second == no_writer && is_original_input(version.first))
      result = add_original_input(version.first->offset());
    else if (version.first->node()->kind() == prim::Constant)
      result = copy_constant(version.first);
    else if (version.second != no_writer && keeps(index_.atom_of_node[version.second]))
      result = resolve(index_.version_at(version.first, version.second));
    else if (version.second == no_writer && is_packing(version.first->node()))
      result = copy_packing(version.first->node());
    else
      result = cut_value(version);
    values_[version] = result;
    return result;
  }

  Value *copy_constant(const Value *value) {
    WithInsertPoint guard(current_);
    return graph()
        .insertNode(graph().createClone(const_cast<Node *>(value->node()), [](Value *v) { return v; }))
        ->output();
  }

  Value *copy_packing(const Node *node) {
    std::vector<Value *> parts;
    const int position = recording_.node_index.at(node);
    for (const Value *part : node->inputs())
      parts.push_back(resolve(index_.version_at(part, position)));
    size_t next = 0;
    WithInsertPoint guard(current_);
    return graph()
        .insertNode(graph().createClone(const_cast<Node *>(node), [&](Value *) { return parts[next++]; }))
        ->output();
  }

  /// Makes an input or a constant of what the eager run recorded. A version that was never read is taken as the nearest
  /// earlier one that was.
  Value *cut_value(const Version &version) {
    int writer = version.second;
    const c10::IValue *contents = recording_.lookup(version.first, writer);
    while (!contents && writer != no_writer) {
      writer = recording_.writer_before(version.first, writer);
      contents = recording_.lookup(version.first, writer);
    }
    if (!contents)
      throw CannotMaterialise("value %" + version.first->debugName() + " was not recorded");
    WithInsertPoint guard(current_);
    return inputs_.materialise(unshared(*contents), version.first->type(), role_of(version.first),
                               name_of(version.first));
  }

  /// A cut value gets memory of its own. In the original run it may have shared another's, but a repro loads or clones
  /// its inputs one by one, and a failure that needs two inputs to overlap would be gone.
  c10::IValue unshared(const c10::IValue &value) {
    bool shared = false;
    for_each_tensor(value, [&](const at::Tensor &tensor) {
      void *storage = storage_of(tensor);
      shared |= originals_.storages.count(storage) > 0 || !storages_.insert(storage).second;
    });
    if (!shared)
      return value;
    return SharedCloner().clone(value);
  }

  Role role_of(const Value *value) const {
    const auto found = recording_.value_index.at(value);
    const auto &originals = recording_.program.inputs;
    return found < static_cast<int>(originals.size()) ? originals[found].role : Role::Input;
  }

  static std::string name_of(const Value *value) {
    const std::string given = value->hasDebugName() ? value->debugName() : "";
    const std::string base = given.substr(0, given.find('.'));
    return base.empty() || std::isdigit(static_cast<unsigned char>(base[0])) ? short_operator_name(value->node())
                                                                             : base;
  }

  void copy_node(Node *node, Block *into) {
    const int position = recording_.node_index.at(node);
    if (into == graph().block())
      current_ = graph().return_node();
    std::vector<Value *> operands;
    for (Value *input : node->inputs())
      operands.push_back(resolve(index_.version_at(input, position)));
    size_t next = 0;
    Node *copy;
    if (node->blocks().empty()) {
      copy = graph().createClone(node, [&](Value *) { return operands[next++]; });
      into->appendNode(copy);
    } else {
      copy = graph().create(node->kind(), operands, node->outputs().size());
      copy->copyMetadata(node);
      into->appendNode(copy);
      for (size_t i = 0; i < node->outputs().size(); ++i)
        copy->output(i)->copyMetadata(node->output(i));
      for (Block *block : node->blocks()) {
        if (into == graph().block())
          current_ = copy;
        copy_block(block, copy->addBlock());
      }
    }
    for (size_t i = 0; i < node->outputs().size(); ++i)
      produced_[node->output(i)] = copy->output(i);
  }

  void copy_block(Block *from, Block *into) {
    for (Value *input : from->inputs()) {
      Value *copy = into->addInput();
      copy->copyMetadata(input);
      produced_[input] = copy;
    }
    for (Node *node : from->nodes()) {
      const int position = recording_.node_index.at(node);
      if (is_packing(node) && node->kind() != prim::Constant)
        copy_nested_packing(node, into);
      else if (keeps(index_.atom_of_node[position]))
        copy_node(node, into);
    }
    const int owner = recording_.node_index.at(from->owningNode());
    for (Value *output : from->outputs())
      into->registerOutput(resolve(index_.version_at(output, owner)));
  }

  /// Packing inside a block is copied where it stands, whatever needs it later; unused, it is removed at the end.
  void copy_nested_packing(Node *node, Block *into) {
    std::vector<Value *> parts;
    try {
      for (const Value *part : node->inputs())
        parts.push_back(resolve(index_.version_at(part, recording_.node_index.at(node))));
    } catch (const CannotMaterialise &) {
      return; // In a branch that was not taken, and nothing kept needs it.
    }
    size_t next = 0;
    Node *copy = into->appendNode(graph().createClone(node, [&](Value *) { return parts[next++]; }));
    produced_[node->output()] = copy->output();
  }

  const AtomIndex &index_;
  const OriginalInputs &originals_;
  const KeptAtoms &kept_;
  const Recording &recording_;
  Program program_;
  InputBuilder inputs_;
  std::unordered_map<Version, Value *, HashVersion> values_;
  std::unordered_map<const Value *, Value *> produced_;
  std::unordered_map<const Value *, size_t> positions_; ///< of new inputs that are original ones, in the signature
  std::set<void *> storages_;                           ///< memory that other inputs of the new Program live in
  /// The top-level position that is being filled. Constants, packing and cut values go in front of it: nothing reads
  /// them earlier. (All in front of the first node would be as good, but a graph makes room for a node between two
  /// others by numbering all of them anew.)
  Node *current_;
};

} // namespace

Program build_cut(const AtomIndex &index, const OriginalInputs &originals, const KeptAtoms &kept,
                  const std::vector<int> &nodes, const std::vector<Version> &exposed, std::vector<size_t> &output_of) {
  return CutBuilder(index, originals, kept).build(nodes, exposed, output_of);
}

} // namespace repro_minify
