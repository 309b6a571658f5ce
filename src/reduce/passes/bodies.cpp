// Bodies: the calls of a graph instead of the higher-order operator that is given it. A branch stands for its cond, one
// turn for a loop, what is checkpointed for the checkpoint, the forward of an autograd.Function for the function, one
// row for a vmap where its arguments take that.
#include "program/python_call.h"
#include "program/surgery.h"
#include "reduce/passes/edit_constants.h"

#include <map>
#include <optional>

namespace repro_minify {
namespace {

/// The arguments of a higher-order operator (fx_call.py): its graphs, and from which argument on those are given what
/// follows, each itself or the parts of a tuple.
struct Operator {
  std::vector<size_t> graphs;
  size_t given;
  bool saves = false; ///< the graph gives its results, and then what it saves
};

const std::map<std::string, Operator> &operators() {
  static const std::map<std::string, Operator> known = {
      {"torch.ops.higher_order.cond", {{1, 2}, 3}},
      {"torch.ops.higher_order.while_loop", {{1}, 2}},
      {"torch.ops.higher_order.tag_activation_checkpoint", {{0}, 1}},
      {"torch.ops.higher_order.autograd_function_apply", {{0}, 2, true}},
      {"fx_vmap.vmapped", {{0}, 5}}};
  return known;
}

const Operator *operator_of(const Node *node) {
  const auto found = is_python_call(node) ? operators().find(operator_name(node)) : operators().end();
  return found == operators().end() ? nullptr : &found->second;
}

/// Returns the elements of a list or tuple; null for anything else.
const json *operands_in(const json &form) {
  if (form.is_object() && form.size() == 1 && form.contains("tuple") && form["tuple"].is_array())
    return &form["tuple"];
  return form.is_array() ? &form : nullptr;
}

c10::TypePtr type_of(const std::string &kind) {
  static const std::map<std::string, c10::TypePtr> types = {{"tensor", c10::TensorType::get()},
                                                            {"tensors", c10::ListType::ofTensors()},
                                                            {"int", c10::IntType::get()},
                                                            {"float", c10::FloatType::get()},
                                                            {"bool", c10::BoolType::get()}};
  const auto found = types.find(kind.substr(0, kind.find('_')));
  return found == types.end() ? nullptr : found->second;
}

/// Puts the calls of a graph in front of the node that is given it. Throws json::exception for one of another form,
/// and std::out_of_range for one whose calls cannot stand on their own.
class Inlined {
public:
  explicit Inlined(Node *node) : node_(node), call_(python_call_of(node)), operands_(node->inputs().size() - 1) {}

  /// Returns what the graph gives: the elements of the result.
  std::vector<Value *> results_of(const Operator &known, size_t graph) {
    for (size_t place = known.given; place < call_.at("a").size(); ++place)
      take_given(call_["a"][place]);
    const json &body = call_.at("a").at(graph).at("graph");
    if (values_.size() != body.at("takes").get<size_t>())
      throw std::out_of_range("a graph that is given something else");
    for (const json &call : body.at("calls"))
      values_.push_back(added(call));
    std::vector<Value *> results;
    for (const json &element : elements(known.saves ? elements(body.at("gives")).at(0) : body.at("gives")))
      results.push_back(value_at(element));
    return results;
  }

private:
  static const json &elements(const json &form) {
    if (const json *found = operands_in(form))
      return *found;
    throw std::out_of_range("neither a list nor a tuple");
  }

  void take_given(const json &form) {
    if (const json *elements = operands_in(form)) {
      for (const json &element : *elements)
        take_given(element);
    } else {
      values_.push_back(node_->input(form.at("%").get<size_t>() + 1));
    }
  }

  Value *value_at(const json &form) const {
    Value *value = values_.at(form.at("$").get<size_t>());
    if (!value)
      throw std::out_of_range("the result of a call that gives nothing");
    return value;
  }

  /// Returns the form with values of the graph as operands behind those of the node. Graphs in it have values of their
  /// own.
  json with_operands(const json &form) const {
    if (!form.is_structured() || (form.is_object() && form.contains("graph")))
      return form;
    if (form.is_object() && form.contains("$")) {
      value_at(form);
      return {{"%", operands_ + form["$"].get<size_t>()}};
    }
    json result = form;
    for (auto &part : result)
      part = with_operands(part);
    return result;
  }

  Value *added(const json &inner) {
    json call = with_operands(inner);
    const auto kind = call.at("kind").get<std::string>();
    call.erase("kind");
    if (call_.contains("in")) {
      json modes = call_["in"];
      for (const auto &mode : call.value("in", json::array()))
        modes.push_back(mode);
      call["in"] = modes;
    }
    std::vector<Value *> inputs = node_->inputs().vec();
    for (Value *value : values_)
      inputs.push_back(value ? value : inputs.front());
    const c10::TypePtr type = type_of(kind);
    if (!type && kind != "effect_")
      throw std::out_of_range("a call of an unknown kind");
    Node *made = node_->owningGraph()->create(c10::Symbol::fromQualString("fx::" + kind), inputs, type ? 1 : 0);
    made->insertBefore(node_);
    set_python_call(made, call);
    return type ? made->output()->setType(type) : nullptr;
  }

  Node *node_;
  json call_;
  size_t operands_;
  std::vector<Value *> values_; ///< null for a call that gives nothing
};

/// Returns nothing where the calls of the graph cannot stand on their own.
std::optional<Program> inlined(const Program &program, const Node *node, size_t graph) {
  EditableCopy copy(program);
  Node *operation = copy.of(node);
  try {
    const auto results = Inlined(operation).results_of(*operator_of(node), graph);
    if (results.empty() || !std::all_of(results.begin(), results.end(), [](const Value *value) {
          return value->type()->isSubtypeOf(*c10::TensorType::get());
        }))
      return {};
    Node *list = copy.program.graph->createList(c10::TensorType::get(), results)->insertBefore(operation);
    replace_node(operation, {list->output()});
  } catch (const json::exception &) {
    return {};
  } catch (const std::out_of_range &) {
    return {};
  }
  drop_unused(copy.program);
  return std::move(copy.program);
}

bool inline_one(PassContext &context) {
  const Program start = context.current;
  for (const Node *node : start.graph->nodes()) {
    const Operator *known = operator_of(node);
    if (!known || node->outputs().size() != 1 || node->output()->type()->kind() != c10::TypeKind::ListType)
      continue;
    for (const size_t graph : known->graphs)
      if (const auto candidate = inlined(start, node, graph); candidate && context.try_candidate(*candidate))
        return true;
  }
  return false;
}

} // namespace

void inline_bodies(PassContext &context) {
  while (inline_one(context)) {
  }
}

} // namespace repro_minify
