#include "repro_minify/record.h"

#include "program/compute.h"
#include "program/cpu_arguments.h"
#include "program/materialise.h"
#include "program/python_call.h"
#include "program/shared_pages.h"
#include "program/surgery.h"
#include "program/values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

namespace repro_minify {
namespace {

void collect_nodes(auto *block, auto &nodes) {
  for (auto *node : block->nodes()) {
    nodes.push_back(node);
    for (auto *inner : node->blocks())
      collect_nodes(inner, nodes);
  }
}

/// True if both are the same view of the same mapped memory, which neither has written to.
bool is_as_given(const c10::IValue &seen, const c10::IValue &given) {
  if (!seen.isTensor() || !given.isTensor() || !storage_of(seen.toTensor()) || !storage_of(given.toTensor()))
    return false;
  const at::Tensor &one = seen.toTensor(), &other = given.toTensor();
  return one.dtype() == other.dtype() && one.sizes() == other.sizes() && one.strides() == other.strides() &&
         one.storage_offset() == other.storage_offset() && one.is_conj() == other.is_conj() &&
         one.is_neg() == other.is_neg() && are_same_pages(one.storage(), other.storage());
}

std::vector<c10::IValue> arguments_on_device(const Program &program, const RunSettings &settings) {
  ArgumentCloner cloner({.requires_grad = settings.grad, .device = settings.device}, *program.graph);
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    arguments.push_back(cloner.clone(i, program.inputs[i].value));
  return arguments;
}

/// The parts of the tuple that ValueRecorder::result() returns: `Keys` and `Writers` are lists of pairs, one number
/// after the other; `Contents` belongs to `Keys`, and `LastContents` to `LastKeys`. Large inputs as they were given do
/// not go back: `Given` has the places of their keys.
enum Part : size_t { DecisionsMade, Keys, Writers, Contents, HiddenAliases, LastKeys, LastContents, Given };

/// Runs a graph node by node in the interpreter, keeps what each value holds, and watches what each top-level node
/// writes to.
class ValueRecorder {
public:
  /// Keeps copies on the CPU: they go back to a process that touches no device.
  ValueRecorder(const Recording &index, const RunSettings &settings)
      : index_(index), cloner_({.requires_grad = settings.grad, .device = c10::kCPU}) {
    writers_.resize(index.value_index.size());
  }

  void run(const std::vector<c10::IValue> &arguments) {
    auto &graph = *index_.program.graph;
    for (size_t i = 0; i < arguments.size(); ++i)
      define(graph.inputs()[i], arguments[i]);
    for (Node *node : graph.nodes()) {
      const int position = index_.node_index.at(node);
      see_inputs(node, position);
      watch_ = {};
      execute(node);
      note_writes(position);
    }
    for (Value *output : graph.outputs())
      see(output, static_cast<int>(index_.nodes.size()));
    compare_last_with_first();
  }

  c10::IValue result() const {
    c10::impl::GenericList decisions(c10::IntType::get()), keys(c10::IntType::get()), writers(c10::IntType::get());
    for (auto decision : decisions_)
      decisions.push_back(decision);
    c10::impl::GenericList given(c10::IntType::get());
    std::vector<c10::IValue> contents;
    for (const auto &[key, value] : seen_) {
      keys.push_back(key.first);
      keys.push_back(key.second);
      const bool goes_back = !is_input_as_given(key, value);
      if (!goes_back)
        given.push_back(static_cast<int64_t>(contents.size()));
      contents.push_back(goes_back ? value : c10::IValue());
    }
    for (size_t value = 0; value < writers_.size(); ++value)
      for (int writer : writers_[value]) {
        writers.push_back(static_cast<int64_t>(value));
        writers.push_back(writer);
      }
    c10::impl::GenericList hidden(c10::StringType::get());
    for (const auto &kind : hidden_aliases_)
      hidden.push_back(kind);
    c10::impl::GenericList values_with_last(c10::IntType::get());
    std::vector<c10::IValue> last;
    for (const auto &[value, its_last] : last_) {
      values_with_last.push_back(value);
      last.push_back(its_last);
    }
    return c10::ivalue::Tuple::create({decisions, keys, writers, c10::ivalue::Tuple::create(std::move(contents)),
                                       hidden, values_with_last, c10::ivalue::Tuple::create(std::move(last)), given});
  }

private:
  /// Inputs have the first numbers, in their order.
  bool is_input_as_given(const std::pair<int, int> &key, const c10::IValue &value) const {
    const auto &inputs = index_.program.inputs;
    return key.second == no_writer && key.first < static_cast<int>(inputs.size()) &&
           is_as_given(value, inputs[key.first].value);
  }

  /// Takes what was made for a value.
  void define(const Value *value, const c10::IValue &contents) {
    environment_[value] = contents;
    for_each_tensor(contents, [&](const at::Tensor &tensor) {
      if (void *storage = storage_of(tensor))
        holders_[storage].insert(index_.value_index.at(value));
    });
    remember(value, no_writer);
  }

  /// Keeps a copy of what `value` holds now under (value, writer), once.
  void remember(const Value *value, int writer) {
    const std::pair<int, int> key(index_.value_index.at(value), writer);
    if (seen_.count(key))
      return;
    const auto &contents = environment_.at(value);
    if (can_materialise(contents))
      seen_.emplace(key, cloner_.clone(contents));
  }

  /// Keeps the last contents of values inside of blocks that differ from the first. Leaves out values that were written
  /// to: they are no longer what they were when they were made.
  void compare_last_with_first() {
    for (const auto &[value, contents] : environment_) {
      const int number = index_.value_index.at(value);
      const auto first = seen_.find({number, no_writer});
      if (value->node()->owningBlock() != index_.program.graph->block() && writers_[number].empty() &&
          first != seen_.end() && can_materialise(contents) && !same_contents(first->second, contents))
        last_.emplace(number, cloner_.clone(contents));
    }
  }

  int last_writer(const Value *value) const {
    const auto &list = writers_[index_.value_index.at(value)];
    return list.empty() ? no_writer : list.back();
  }

  /// Keeps what a reader at the top level finds in a value.
  void see(const Value *value, int reader) {
    if (environment_.count(value) && reader >= 0)
      remember(value, last_writer(value));
  }

  /// Keeps everything that a top-level node reads, the captures of its blocks included.
  void see_inputs(const Node *node, int reader) {
    for (const Value *input : node->inputs())
      see(input, reader);
    for (const Block *block : node->blocks()) {
      for (const Node *inner : block->nodes())
        see_inputs(inner, reader);
      for (const Value *output : block->outputs())
        see(output, reader);
    }
  }

  /// Remembers the versions of the tensors in an operand, for note_writes().
  void watch(const c10::IValue &value) {
    for_each_tensor(value, [&](const at::Tensor &tensor) {
      if (storage_of(tensor))
        watch_.try_emplace({storage_of(tensor), tensor.unsafeGetTensorImpl()}, tensor, version_of(tensor));
    });
  }

  /// Notes the top-level node as a writer of every value that lives in memory which it wrote to.
  void note_writes(int position) {
    std::set<void *> written;
    for (const auto &[place, before] : watch_)
      if (version_of(before.first) != before.second)
        written.insert(place.first);
    for (void *storage : written) {
      cloner_.forget(storage); // tensors that share it may have counters of their own
      for (int value : holders_[storage])
        if (writers_[value].empty() || writers_[value].back() != position)
          writers_[value].push_back(position);
    }
    for (const Value *list : written_lists_)
      writers_[index_.value_index.at(list)].push_back(position);
    written_lists_.clear();
  }

  void run_block(Block *block) {
    for (Node *node : block->nodes())
      execute(node);
  }

  void execute(Node *node) {
    if (node->kind() == prim::If)
      return run_if(node);
    if (node->kind() == prim::Loop)
      return run_loop(node);
    std::vector<c10::IValue> stack;
    for (const Value *input : node->inputs()) {
      stack.push_back(environment_.at(input));
      watch(stack.back());
    }
    note_list_writes(node);
    const std::vector<c10::IValue> operands = stack;
    run_node(node, stack);
    note_hidden_aliases(node, operands, stack);
    for (size_t i = 0; i < node->outputs().size(); ++i)
      define(node->output(i), stack.at(i));
  }

  void note_list_writes(const Node *node) {
    const auto *schema = node->maybeSchema();
    if (!schema)
      return;
    for (size_t i = 0; i < node->inputs().size() && i < schema->arguments().size(); ++i) {
      const auto *alias = schema->arguments()[i].alias_info();
      if (alias && alias->isWrite() && !environment_.at(node->input(i)).isTensor())
        written_lists_.insert(node->input(i));
    }
  }

  /// Notes an operator with a result that lives in an operand's memory although the schema calls it fresh.
  void note_hidden_aliases(const Node *node, const std::vector<c10::IValue> &operands,
                           const std::vector<c10::IValue> &results) {
    const auto *schema = node->maybeSchema();
    if (!schema || schema->returns().size() != results.size() || is_python_call(node))
      return; // a call of Python promises nothing, and TorchScript drops none that writes
    std::set<void *> storages;
    for (const auto &operand : operands)
      for_each_tensor(operand, [&](const at::Tensor &tensor) { storages.insert(storage_of(tensor)); });
    storages.erase(nullptr);
    for (size_t i = 0; i < results.size(); ++i)
      if (!schema->returns()[i].alias_info())
        for_each_tensor(results[i], [&](const at::Tensor &tensor) {
          if (storages.count(storage_of(tensor)))
            hidden_aliases_.insert(node->kind().toQualString());
        });
  }

  void run_if(Node *node) {
    const bool taken = environment_.at(node->input()).toBool();
    decisions_.push_back(taken);
    Block *block = node->blocks()[taken ? 0 : 1];
    run_block(block);
    for (size_t i = 0; i < node->outputs().size(); ++i)
      define(node->output(i), environment_.at(block->outputs()[i]));
  }

  void run_loop(Node *node) {
    const size_t decision = decisions_.size();
    decisions_.push_back(0);
    Block *body = node->blocks()[0];
    const int64_t limit = environment_.at(node->input(0)).toInt();
    bool goes_on = environment_.at(node->input(1)).toBool();
    std::vector<c10::IValue> carried;
    for (size_t i = 2; i < node->inputs().size(); ++i)
      carried.push_back(environment_.at(node->input(i)));
    int64_t trip = 0;
    for (; trip < limit && goes_on; ++trip) {
      define(body->inputs()[0], trip);
      for (size_t i = 0; i < carried.size(); ++i)
        define(body->inputs()[i + 1], carried[i]);
      run_block(body);
      goes_on = environment_.at(body->outputs()[0]).toBool();
      for (size_t i = 0; i < carried.size(); ++i)
        carried[i] = environment_.at(body->outputs()[i + 1]);
    }
    decisions_[decision] = trip;
    for (size_t i = 0; i < carried.size(); ++i)
      define(node->output(i), carried[i]);
  }

  const Recording &index_;
  SharedCloner cloner_;
  std::unordered_map<const Value *, c10::IValue> environment_;
  std::unordered_map<void *, std::set<int>> holders_; ///< storage -> values that live in it
  /// Storages that the running node reads and the tensors in them, with their versions before it ran.
  std::map<std::pair<void *, const void *>, std::pair<at::Tensor, int64_t>> watch_;
  std::set<const Value *> written_lists_; ///< by the running node: lists have no version
  std::map<std::pair<int, int>, c10::IValue> seen_;
  std::map<int, c10::IValue> last_;
  std::vector<std::vector<int>> writers_;
  Decisions decisions_;
  std::set<std::string> hidden_aliases_;
};

/// Returns a Recording whose nodes and values have their numbers, and which holds no contents yet.
Recording make_index(const Program &program) {
  Recording recording;
  recording.program = program;
  recording.nodes = all_nodes(*program.graph);
  int values = 0;
  const auto number = [&](const Value *value) { recording.value_index.emplace(value, values++); };
  for (const Value *input : program.graph->inputs())
    number(input);
  for (size_t i = 0; i < recording.nodes.size(); ++i) {
    recording.node_index[recording.nodes[i]] = static_cast<int>(i);
    for (const Value *output : recording.nodes[i]->outputs())
      number(output);
    for (const Block *block : recording.nodes[i]->blocks())
      for (const Value *input : block->inputs())
        number(input);
  }
  recording.writers.resize(values);
  return recording;
}

} // namespace

std::vector<Node *> all_nodes(Graph &graph) {
  std::vector<Node *> nodes;
  collect_nodes(graph.block(), nodes);
  return nodes;
}

std::vector<const Node *> all_nodes(const Graph &graph) {
  std::vector<const Node *> nodes;
  collect_nodes(graph.block(), nodes);
  return nodes;
}

int Recording::writer_before(const Value *value, int reader) const {
  const auto &list = writers[value_index.at(value)];
  const auto after = std::lower_bound(list.begin(), list.end(), reader);
  return after == list.begin() ? no_writer : *std::prev(after);
}

const c10::IValue *Recording::lookup(const Value *value, int writer) const {
  const auto found = seen.find({value_index.at(value), writer});
  return found == seen.end() ? nullptr : &found->second;
}

Recording as_it_ended(const Recording &recording) {
  Recording result = recording;
  for (const auto &[value, contents] : recording.last)
    result.seen[{value, no_writer}] = contents;
  return result;
}

Recording record(const Program &program, const RunSettings &settings, const Limits &given) {
  Limits limits = given;
  limits.reply_capacity = generous_limits().reply_capacity; // the reply is every intermediate value
  Recording recording = make_index(program);
  const auto result = compute_in_child(
      [&](Child &child) {
        child.stage("recording the eager run");
        const RunScope scope(settings);
        const auto arguments = arguments_on_device(program, settings);
        ValueRecorder recorder(recording, settings);
        scope.begin_run();
        recorder.run(arguments);
        scope.end_run();
        return recorder.result();
      },
      limits);
  const auto &parts = result.toTupleRef().elements();
  // Every candidate that is cut from it has these values.
  for (const Part values : {Contents, LastContents})
    for_each_tensor(parts[values], [](const at::Tensor &tensor) { share_pages(tensor); });
  for (const c10::IValue &decision : parts[DecisionsMade].toListRef())
    recording.decisions.push_back(decision.toInt());
  const auto keys = parts[Keys].toListRef();
  std::vector<c10::IValue> contents = parts[Contents].toTupleRef().elements();
  for (const c10::IValue &place : parts[Given].toListRef())
    contents[place.toInt()] = program.inputs[keys[2 * place.toInt()].toInt()].value;
  for (size_t i = 0; i < contents.size(); ++i)
    recording.seen.emplace(
        std::make_pair(static_cast<int>(keys[2 * i].toInt()), static_cast<int>(keys[2 * i + 1].toInt())), contents[i]);
  for (const c10::IValue &kind : parts[HiddenAliases].toListRef())
    recording.program.provenance.hidden_aliases.insert(c10::Symbol::fromQualString(kind.toStringRef()));
  const auto &last = parts[LastContents].toTupleRef().elements();
  for (size_t i = 0; i < last.size(); ++i)
    recording.last.emplace(static_cast<int>(parts[LastKeys].toListRef()[i].toInt()), last[i]);
  const auto writers = parts[Writers].toListRef();
  for (size_t i = 0; i < writers.size(); i += 2)
    recording.writers[writers[i].toInt()].push_back(static_cast<int>(writers[i + 1].toInt()));
  return recording;
}

} // namespace repro_minify
