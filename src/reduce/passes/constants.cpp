// Constants: what is made from constants and weights alone becomes a tensor constant. A cut makes an input of it, which
// is simpler; but an optimiser that folds constants, or looks for them, fails on a constant only. Where such a value
// has to be made, but is one number everywhere, a torch.full makes it as well as several operators do.
#include "program/atoms.h"
#include "program/materialise.h"
#include "program/python_call.h"
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"
#include "reduce/passes/pass.h"
#include "reduce/passes/remake_input.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

namespace repro_minify {
namespace {

using torch::jit::Use;

/// The values that count as constants.
enum class Constants {
  WithWeights, ///< of the graph, parameters, buffers and tensors of the Program
  OfGraph      ///< of the graph alone, and the size of any value where a node asks for no more
};

/// True if a node asks no more of its operand than its size and dtype: torch.zeros_like(x).
bool only_asks_for_size(const Node *node) {
  static const std::set<std::string> names = {"zeros_like", "ones_like", "full_like",
                                              "new_zeros",  "new_ones",  "new_full"};
  return names.count(short_operator_name(node)) > 0;
}

/// Which nodes of a Program an optimiser could do away with by running them.
class Foldable {
public:
  Foldable(const Program &program, Constants constants) : program_(program), constants_(constants) {
    for (const Node *node : all_nodes(*program.graph))
      if (can_be_folded(node))
        nodes_.insert(node);
  }

  /// Returns the tensors that such a node makes. WithWeights gives those that another node works with, in order;
  /// OfGraph those that any other node reads, the last first.
  std::vector<const Value *> results() const {
    const bool with_weights = constants_ == Constants::WithWeights;
    std::vector<const Value *> results;
    for (const Node *node : all_nodes(*program_.graph))
      if (nodes_.count(node) && counts_as_operator(node))
        for (const Value *output : node->outputs())
          if (output->type()->isSubtypeOf(*c10::TensorType::get()) &&
              (with_weights ? is_worked_with(output) : !is_only_returned(output)))
            results.insert(with_weights ? results.end() : results.begin(), output);
    return results;
  }

private:
  static bool is_only_returned(const Value *value) {
    return std::all_of(value->uses().begin(), value->uses().end(),
                       [](const Use &use) { return use.user->kind() == prim::Return; });
  }

  bool is_constant(const Value *value) const {
    const Node *node = value->node();
    if (is_written_to(value))
      return false;
    if (node == program_.graph->param_node())
      return constants_ == Constants::WithWeights && program_.inputs[value->offset()].role != Role::Input;
    return nodes_.count(node) > 0;
  }

  /// Makers come before readers.
  bool can_be_folded(const Node *node) const {
    const auto operands = node->inputs();
    const auto made = node->outputs();
    return node->kind() != prim::Param && node->blocks().empty() && !has_effects(node) &&
           ((constants_ == Constants::OfGraph && only_asks_for_size(node)) ||
            std::all_of(operands.begin(), operands.end(), [&](const Value *value) { return is_constant(value); })) &&
           std::none_of(made.begin(), made.end(), is_written_to);
  }

  bool is_worked_with(const Value *value) const {
    return std::any_of(value->uses().begin(), value->uses().end(), [&](const Use &use) {
      if (is_packing(use.user))
        return is_worked_with(use.user->output());
      return use.user->kind() != prim::Return && nodes_.count(use.user) == 0;
    });
  }

  const Program &program_;
  const Constants constants_;
  std::unordered_set<const Node *> nodes_;
};

/// Returns the contents of a value that is never written to; null if it is written to, or a graph cannot hold them.
const c10::IValue *constant_of(const Recording &recording, const Value *value) {
  if (!recording.writers[recording.value_index.at(value)].empty())
    return nullptr;
  const auto *contents = recording.lookup(value, no_writer);
  const bool plain = contents && contents->isTensor() && contents->toTensor().defined() &&
                     contents->toTensor().layout() == at::kStrided && contents->toTensor().has_storage() &&
                     !contents->toTensor().is_quantized();
  return plain ? contents : nullptr;
}

/// One of a Program's values and what it becomes.
struct Folded {
  const Value *value;
  c10::IValue constant;
};

std::vector<Folded> folded(const Recording &recording) {
  std::vector<Folded> result;
  for (const Value *value : Foldable(recording.program, Constants::WithWeights).results())
    if (const auto *constant = constant_of(recording, value))
      result.push_back({value, constant->toTensor().detach()});
  return result;
}

Program with_constants(const Program &program, const std::vector<Folded> &values, const std::vector<size_t> &which) {
  return edited(program, [&](EditableCopy &copy) {
    InputBuilder inputs(copy.program);
    std::vector<Value *> replaced;
    for (size_t i : which) {
      Value *value = copy.of(values[i].value);
      value->replaceAllUsesWith(inputs.add_tensor(values[i].constant, Role::Constant, "c"));
      replaced.push_back(value);
    }
    drop_unread(replaced);
  });
}

void make_tensor_constants(PassContext &context) {
  const Program start = context.current;
  if (Foldable(start, Constants::WithWeights).results().empty())
    return;
  const auto recording = context.record();
  if (!recording)
    return;
  const auto values = folded(*recording);
  accept_in_bulk(context, values.size(),
                 [&](const std::vector<size_t> &which) { return with_constants(start, values, which); });
}

/// The Program in which a call that fills a tensor makes the value; nothing where such a call makes it already, or it
/// is not one number everywhere.
std::optional<Program> filled(const Recording &recording, const Value *value) {
  const std::string maker = short_operator_name(value->node());
  const auto *contents = constant_of(recording, value);
  const auto number = contents ? only_number_in(contents->toTensor()) : std::nullopt;
  if (!number || maker == name_of_filling(*number))
    return std::nullopt;
  return edited(recording.program, [&](EditableCopy &copy) {
    Value *former = copy.of(value);
    Value *made = insert_filled(former->node(), *number, contents->toTensor());
    former->replaceAllUsesWith(made);
    drop_unread({former});
  });
}

/// Tries each value alone, the last first: a reduced program has few.
bool fill_instead(PassContext &context) {
  if (Foldable(context.current, Constants::OfGraph).results().empty())
    return false;
  const auto recording = context.record();
  if (!recording)
    return false;
  for (const Value *value : Foldable(recording->program, Constants::OfGraph).results()) {
    const auto candidate = filled(*recording, value);
    if (candidate && context.try_candidate(*candidate))
      return true;
  }
  return false;
}

} // namespace

void fold_constants(PassContext &context) {
  make_tensor_constants(context);
  while (fill_instead(context)) {
  }
}

} // namespace repro_minify
