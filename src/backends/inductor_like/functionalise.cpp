#include "backends/inductor_like/stages.h"

#include "backends/inductor_like/capture.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <map>

namespace repro_minify::inductor_like {
namespace {

/// The inputs that a node writes to, by its schema.
std::vector<size_t> written_inputs(const Node *node) {
  std::vector<size_t> written;
  const auto *schema = node->maybeSchema();
  if (!schema)
    return written;
  for (size_t k = 0; k < schema->arguments().size() && k < node->inputs().size(); ++k)
    if (const auto *alias = schema->arguments()[k].alias_info(); alias && alias->isWrite())
      written.push_back(k);
  return written;
}

bool same_place(const ObservedTensor &a, const ObservedTensor &b) {
  return a.storage == b.storage && a.offset == b.offset && a.sizes == b.sizes && a.strides == b.strides &&
         a.dtype == b.dtype;
}

/// True if the tensor is all of its memory, in order.
bool covers_its_storage(const ObservedTensor &tensor) {
  int64_t expected = 1;
  for (size_t d = tensor.sizes.size(); d-- > 0;) {
    if (tensor.sizes[d] != 1 && tensor.strides[d] != expected)
      return false;
    expected *= tensor.sizes[d];
  }
  return tensor.offset == 0 && expected == tensor.storage_elements;
}

class Functionaliser {
public:
  explicit Functionaliser(const StraightLine &line)
      : line_(line), seen_(observe(line)), graph_(std::make_shared<Graph>()) {}

  Functional run() {
    for (auto *input : line_.graph->inputs())
      define(input, graph_->addInput()->setType(c10::TensorType::get()));
    for (auto *node : line_.graph->nodes())
      visit(node);
    Functional result;
    for (const auto *output : line_.graph->outputs())
      graph_->registerOutput(current(output));
    for (size_t k = 0; k < line_.inputs.size(); ++k)
      if (const Value *input = line_.graph->inputs()[k]; changed_.count(input)) {
        result.updates.push_back({k, graph_->outputs().size()});
        graph_->registerOutput(current(input));
      }
    result.line = {graph_, line_.inputs, line_.arguments, line_.constants};
    return result;
  }

private:
  void visit(Node *node) {
    const auto written = written_inputs(node);
    if (!written.empty()) {
      if (written.size() > 1 || written[0] != 0 || node->outputs().size() != 1)
        throw NotCovered(std::string(node->kind().toQualString()) + " writes to more than its first operand");
      write(node);
      return;
    }
    require_no_hidden_write(node);
    Node *copy = graph_->createClone(node, [&](Value *value) { return current(value); });
    graph_->appendNode(copy);
    for (size_t k = 0; k < node->outputs().size(); ++k)
      define(node->outputs()[k], copy->outputs()[k]);
  }

  /// Normalisation in training writes to its running statistics, which its schema does not say.
  void require_no_hidden_write(const Node *node) const {
    static const auto writers = set_of_words("aten::batch_norm aten::instance_norm aten::native_batch_norm");
    if (writers.count(node->kind().toQualString()) == 0 || !seen_.constant(node->input(5)).isBool() ||
        !seen_.constant(node->input(5)).toBool())
      return;
    for (const size_t statistic : {3, 4})
      if (seen_.tensor(node->input(statistic)) && node->input(statistic)->uses().size() > 1)
        throw NotCovered("running statistics are written to and read elsewhere");
  }

  void define(const Value *value, Value *made) {
    now_[value] = made;
    if (const auto *tensor = seen_.tensor(value); tensor && tensor->storage)
      sharers_[tensor->storage].push_back(value);
  }

  /// The value of the new graph that holds what `value` holds now.
  Value *current(const Value *value) {
    const auto found = now_.find(value);
    if (found == now_.end())
      throw std::logic_error("a value is read before it is made");
    return found->second;
  }

  void write(Node *node) {
    static const std::set<std::string> metadata = {"aten::t_",       "aten::transpose_", "aten::unsqueeze_",
                                                   "aten::squeeze_", "aten::swapaxes_",  "aten::swapdims_",
                                                   "aten::resize_",  "aten::set_",       "aten::as_strided_",
                                                   "aten::detach_",  "aten::resize_as_"};
    if (metadata.count(node->kind().toQualString()))
      throw NotCovered(std::string(node->kind().toQualString()) + " changes a tensor's shape in place");
    const Value *target = node->input(0);
    const auto *place = seen_.tensor(target);
    if (!place || !place->plain)
      throw NotCovered(std::string(node->kind().toQualString()) + " writes to a tensor that is not plain");
    if (const auto *source = node->inputs().size() > 1 ? seen_.tensor(node->input(1)) : nullptr;
        source && source->device != place->device && node->kind() == c10::Symbol::fromQualString("aten::copy_"))
      throw NotCovered("aten::copy_ copies from one device to another");
    Value *result = functional_twin(node, *place);
    spread(*place, result);
    define(node->output(), result);
  }

  /// Makes the tensors that share memory with `place` read `result` from now on, or views of it.
  void spread(const ObservedTensor &place, Value *result) {
    const std::vector<const Value *> sharers = sharers_[place.storage];
    const bool alone = std::all_of(sharers.begin(), sharers.end(),
                                   [&](const Value *other) { return same_place(*seen_.tensor(other), place); });
    Value *base = alone ? nullptr : new_base(sharers, place, result);
    for (const Value *other : sharers) {
      const ObservedTensor &view = *seen_.tensor(other);
      changed_.insert(other);
      now_[other] = same_place(view, place)
                        ? result
                        : call("aten::as_strided", {base, list(view.sizes), list(view.strides), number(view.offset)});
    }
  }

  /// The whole memory with the part that was written replaced.
  Value *new_base(const std::vector<const Value *> &sharers, const ObservedTensor &place, Value *result) {
    const auto whole = std::find_if(sharers.begin(), sharers.end(), [&](const Value *value) {
      return covers_its_storage(*seen_.tensor(value)) && seen_.tensor(value)->dtype == place.dtype;
    });
    const bool one_type = std::all_of(sharers.begin(), sharers.end(), [&](const Value *value) {
      return seen_.tensor(value)->plain && seen_.tensor(value)->dtype == place.dtype;
    });
    if (whole == sharers.end() || !one_type)
      throw NotCovered("memory is written through a view of a tensor that is not contiguous");
    if (covers_its_storage(place))
      return call("aten::contiguous", {result, number(0)});
    Value *old = call("aten::contiguous", {current(*whole), number(0)});
    return call("aten::as_strided_scatter",
                {old, result, list(place.sizes), list(place.strides), number(place.offset)});
  }

  /// The value that the node writes, computed without writing; of the type and shape of what it writes to.
  Value *functional_twin(Node *node, const ObservedTensor &place) {
    const std::string name = node->kind().toQualString();
    std::vector<Value *> inputs;
    for (auto *input : node->inputs())
      inputs.push_back(current(input));
    if (name == "aten::copy_")
      return call("aten::to",
                  {call("aten::expand", {inputs[1], list(place.sizes), no()}),
                   number(static_cast<int64_t>(place.dtype)), no(), graph_->insertConstant(true), number(0)});
    if (name == "aten::zero_")
      return call("aten::full_like", {inputs[0], number(0)});
    if (name == "aten::fill_" && !node->input(1)->type()->isSubtypeOf(c10::TensorType::get()))
      return call("aten::full_like", {inputs[0], inputs[1]});
    if (name.back() != '_' || name.size() < 3 || name[name.size() - 2] == '_')
      throw NotCovered(name + " writes, and has no functional twin");
    return typed(call(name.substr(0, name.size() - 1), inputs), place.dtype);
  }

  Value *typed(Value *value, at::ScalarType dtype) {
    return call("aten::to", {value, number(static_cast<int64_t>(dtype)), no(), no(), none()});
  }

  /// A node of the overload that takes these inputs, its other arguments by default.
  Value *call(const std::string &name, const std::vector<Value *> &inputs) {
    const auto symbol = c10::Symbol::fromQualString(name);
    Node *node = graph_->create(symbol, 1);
    for (auto *input : inputs)
      node->addInput(input);
    graph_->appendNode(node);
    // LibTorch's own matching fills in defaults and checks types.
    if (!node->maybeOperator() && !fill_defaults(node))
      throw NotCovered(name + " has no overload for what its in-place twin was given");
    node->output()->setType(c10::TensorType::get());
    return node->output();
  }

  /// Appends the defaults of the first overload that then fits.
  bool fill_defaults(Node *node) {
    const size_t given = node->inputs().size();
    for (const auto &candidate : jit::getAllOperatorsFor(node->kind())) {
      const auto &arguments = candidate->schema().arguments();
      bool usable = arguments.size() > given;
      for (size_t k = given; usable && k < arguments.size(); ++k)
        usable = arguments[k].default_value().has_value();
      for (size_t k = given; usable && k < arguments.size(); ++k) {
        jit::WithInsertPoint guard(node);
        node->addInput(graph_->insertConstant(*arguments[k].default_value()));
      }
      if (usable && node->maybeOperator())
        return true;
      while (node->inputs().size() > given)
        node->removeInput(node->inputs().size() - 1);
    }
    return false;
  }

  Value *list(const std::vector<int64_t> &numbers) { return graph_->insertConstant(numbers); }
  Value *number(int64_t value) { return graph_->insertConstant(value); }
  Value *no() { return graph_->insertConstant(false); }
  Value *none() { return graph_->insertConstant(c10::IValue()); }

  const StraightLine &line_;
  const Observation seen_;
  GraphPtr graph_;
  std::map<const Value *, Value *> now_;
  std::map<const void *, std::vector<const Value *>> sharers_; ///< in the order they were made
  std::set<const Value *> changed_;
};

} // namespace

Functional functionalise(const StraightLine &line) {
  return Functionaliser(line).run();
}

} // namespace repro_minify::inductor_like
