#include "program/tracer.h"

#include "program/flat_graph.h"
#include "program/surgery.h"
#include "program/values.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

namespace repro_minify {

namespace {

template <typename T> int64_t address_of(const T *pointer) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(pointer));
}

template <typename T> T *at_address(int64_t address) {
  return reinterpret_cast<T *>(static_cast<intptr_t>(address));
}

/// Types whose values no flat program has: what touches one is carried out while tracing.
bool is_carried_out(const c10::TypePtr &type) {
  if (type->cast<c10::ClassType>())
    return !is_opaque_class(type);
  if (type->kind() == c10::TypeKind::InterfaceType || type->kind() == c10::TypeKind::FutureType ||
      type->kind() == c10::TypeKind::FunctionType)
    return true;
  return std::any_of(type->containedTypes().begin(), type->containedTypes().end(), is_carried_out);
}

bool is_carried_out(const Node *node) {
  const auto of_type = [](const Value *value) { return is_carried_out(value->type()); };
  return std::any_of(node->inputs().begin(), node->inputs().end(), of_type) ||
         std::any_of(node->outputs().begin(), node->outputs().end(), of_type);
}

/// Returns an address that stands for the value wherever it turns up again; null for a value without identity.
const void *identity_of(const c10::IValue &value) {
  if (value.isTensor())
    return value.toTensor().defined() ? value.toTensor().unsafeGetTensorImpl() : nullptr;
  if (value.isObject())
    return &value.toObjectRef();
  return value.isList() || value.isGenericDict() ? value.internalToPointer() : nullptr;
}

} // namespace

c10::IValue TraceLog::packed() const {
  std::vector<int64_t> numbers;
  for (const auto &step : steps) {
    numbers.insert(numbers.end(), {step.kind, address_of(step.node), address_of(step.value), step.index,
                                   static_cast<int64_t>(step.operands.size())});
    numbers.insert(numbers.end(), step.operands.begin(), step.operands.end());
  }
  return c10::ivalue::Tuple::create({numbers, c10::ivalue::Tuple::create(constants), outputs});
}

TraceLog TraceLog::unpacked(const c10::IValue &packed) {
  const auto &parts = packed.toTupleRef().elements();
  const auto numbers = parts[0].toIntVector();
  TraceLog log;
  for (size_t i = 0; i < numbers.size();) {
    TraceLog::Step step{static_cast<TraceLog::Step::Kind>(numbers[i]),
                        at_address<Node>(numbers[i + 1]),
                        at_address<const Value>(numbers[i + 2]),
                        numbers[i + 3],
                        {}};
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i + 5);
    step.operands.assign(begin, begin + numbers[i + 4]);
    i += 5 + step.operands.size();
    log.steps.push_back(std::move(step));
  }
  log.constants = parts[1].toTupleRef().elements().vec();
  log.outputs = parts[2].toIntVector();
  return log;
}

TraceLog Tracer::run(torch::jit::Function &method, const c10::IValue &self, const std::vector<c10::IValue> &arguments) {
  paths_[&self.toObjectRef()] = "";
  Values values = {{self, std::nullopt}};
  for (const auto &argument : arguments) {
    know(argument, count_);
    values.push_back({argument, count_++});
  }
  const auto &graph = torch::jit::toGraphFunction(method).graph();
  const Values results = call(*graph, std::move(values));
  for (size_t i = 0; i < results.size(); ++i)
    log_.outputs.push_back(number_of(results[i], graph->outputs()[i]));
  return std::move(log_);
}

Tracer::Values Tracer::call(Graph &graph, Values arguments) {
  Frame frame;
  for (size_t i = 0; i < arguments.size(); ++i)
    frame[graph.inputs().at(i)] = std::move(arguments[i]);
  execute(frame, graph.block());
  Values results;
  for (const Value *output : graph.outputs())
    results.push_back(frame.at(output));
  return results;
}

Tracer::Values Tracer::call_method(const c10::IValue &object, const std::string &name, Values arguments) {
  auto &method = object.toObjectRef().type()->getMethod(name);
  return call(*torch::jit::toGraphFunction(method).graph(), std::move(arguments));
}

void Tracer::execute(Frame &frame, const Block *block) {
  for (const Node *node : block->nodes())
    execute(frame, const_cast<Node *>(node)); // its operator is looked up
}

void Tracer::execute(Frame &frame, Node *node) {
  if (node->kind() == prim::If)
    execute_if(frame, node);
  else if (node->kind() == prim::Loop)
    execute_loop(frame, node);
  else if (!execute_call(frame, node) && !execute_access(frame, node))
    execute_operator(frame, node);
}

/// Calls, tasks (which are done at once), and the two calls that a `with` consists of.
bool Tracer::execute_call(Frame &frame, Node *node) {
  if (node->kind() == prim::CallMethod) {
    const c10::IValue object = frame.at(node->input(0)).value;
    if (is_opaque_object(object))
      return false;
    define(frame, node, call_method(object, node->s(torch::jit::attr::name), operands(frame, node)));
  } else if (node->kind() == prim::CallFunction) {
    Values arguments = operands(frame, node);
    arguments.erase(arguments.begin());
    auto *function = node->input(0)->type()->expectRef<c10::FunctionType>().function();
    define(frame, node, call(*torch::jit::toGraphFunction(*function).graph(), std::move(arguments)));
  } else if (node->kind() == prim::fork) {
    const auto result = call(*node->g(torch::jit::attr::Subgraph), operands(frame, node)).at(0);
    auto future = c10::make_intrusive<c10::ivalue::Future>(node->output()->type());
    future->markCompleted(result.value);
    know(result.value, number_of(result, nullptr));
    define(frame, node, {{future, std::nullopt}});
  } else if (node->kind() == torch::jit::aten::wait) {
    const auto future = frame.at(node->input(0)).value.toFuture();
    define(frame, node, {{future->value(), std::nullopt}});
  } else if (node->kind() == prim::Enter) {
    define(frame, node, call_method(frame.at(node->input(0)).value, "__enter__", operands(frame, node)));
  } else if (node->kind() == prim::Exit) {
    Values arguments = operands(frame, node);
    arguments.resize(4); // no exception has been thrown
    define(frame, node, call_method(arguments[0].value, "__exit__", arguments));
  } else {
    return false;
  }
  return true;
}

/// Attributes, and constants that stand for functions.
bool Tracer::execute_access(Frame &frame, Node *node) {
  if (node->kind() == prim::GetAttr) {
    define(frame, node, {read_attribute(frame.at(node->input()).value, node->s(torch::jit::attr::name))});
  } else if (node->kind() == prim::SetAttr) {
    const auto object = frame.at(node->input(0)).value.toObject();
    const std::string &name = node->s(torch::jit::attr::name);
    assigned_[{object.get(), name}] = frame.at(node->input(1));
    object->setAttr(name, frame.at(node->input(1)).value);
    kept_alive_.emplace_back(object);
  } else if (node->kind() == prim::Constant && node->output()->type()->cast<c10::FunctionType>()) {
    define(frame, node, {{c10::IValue(), std::nullopt}});
  } else {
    return false;
  }
  return true;
}

void Tracer::execute_if(Frame &frame, Node *node) {
  const Block *taken = node->blocks()[frame.at(node->input()).value.toBool() ? 0 : 1];
  execute(frame, taken);
  for (size_t i = 0; i < node->outputs().size(); ++i)
    frame[node->output(i)] = frame.at(taken->outputs()[i]);
}

void Tracer::execute_loop(Frame &frame, Node *node) {
  const Block *body = node->blocks()[0];
  const int64_t limit = frame.at(node->input(0)).value.toInt();
  bool goes_on = frame.at(node->input(1)).value.toBool();
  Values carried = operands(frame, node);
  carried.erase(carried.begin(), carried.begin() + 2);
  for (int64_t trip = 0; trip < limit && goes_on; ++trip) {
    frame[body->inputs()[0]] = {trip, std::nullopt};
    for (size_t i = 0; i < carried.size(); ++i)
      frame[body->inputs()[i + 1]] = carried[i];
    execute(frame, body);
    goes_on = frame.at(body->outputs()[0]).value.toBool();
    for (size_t i = 0; i < carried.size(); ++i)
      carried[i] = frame.at(body->outputs()[i + 1]);
  }
  define(frame, node, carried);
}

void Tracer::execute_operator(Frame &frame, Node *node) {
  std::vector<c10::IValue> stack;
  for (const auto &operand : operands(frame, node))
    stack.push_back(operand.value);
  TraceLog::Step step{TraceLog::Step::Operator, node, nullptr, 0, {}};
  const bool carried_out = is_carried_out(node);
  if (!carried_out) // before the node runs: it can write to its operands
    for (const Value *input : node->inputs())
      step.operands.push_back(number_of(frame.at(input), input));
  run_node(node, stack);
  if (node->kind() == prim::Constant && stack[0].isTensor() && stack[0].toTensor().defined())
    stack[0] = stack[0].toTensor().to(device_); // the node itself stays as the parent has it
  int64_t number = carried_out ? 0 : add(std::move(step));
  Values results;
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    results.push_back({stack.at(i), std::nullopt});
    if (carried_out)
      continue;
    know(stack[i], number);
    results.back().number = number++;
  }
  define(frame, node, results);
}

Tracer::Values Tracer::operands(const Frame &frame, const Node *node) {
  Values values;
  for (const Value *input : node->inputs())
    values.push_back(frame.at(input));
  return values;
}

void Tracer::define(Frame &frame, const Node *node, const Values &results) {
  for (size_t i = 0; i < node->outputs().size(); ++i)
    frame[node->output(i)] = results.at(i);
}

/// A tensor of the model that is met for the first time is a step; what was assigned is what it was then.
Tracer::Tracked Tracer::read_attribute(const c10::IValue &object, const std::string &name) {
  const auto known = assigned_.find({&object.toObjectRef(), name});
  if (known != assigned_.end())
    return known->second;
  const c10::IValue value = object.toObjectRef().getAttr(name);
  const auto owner = paths_.find(&object.toObjectRef());
  if (owner == paths_.end() || !identity_of(value))
    return {value, std::nullopt};
  const std::string path = owner->second.empty() ? name : owner->second + "." + name;
  if (value.isObject() && !is_opaque_object(value)) {
    paths_.emplace(&value.toObjectRef(), path);
    return {value, std::nullopt};
  }
  const bool holds_objects = (value.isList() || value.isGenericDict()) && is_carried_out(value.type());
  if (!holds_objects && !known_.count(identity_of(value))) {
    log_.constants.emplace_back(path);
    TraceLog::Step step{
        TraceLog::Step::Attribute, nullptr, nullptr, static_cast<int64_t>(log_.constants.size()) - 1, {}};
    know(value, add(std::move(step)));
  }
  return {value, std::nullopt};
}

/// `as`: what it is read as.
int64_t Tracer::number_of(const Tracked &tracked, const Value *as) {
  if (tracked.number)
    return *tracked.number;
  const c10::IValue &value = tracked.value;
  if (const auto known = known_.find(identity_of(value)); identity_of(value) && known != known_.end())
    return known->second;
  if (value.isObject())
    throw CannotFlatten("the model hands an object of type " + value.type()->annotation_str() +
                        " to an operator, or returns it");
  std::vector<c10::IValue> leaves;
  flatten_value(value, leaves);
  const bool is_plain = std::none_of(leaves.begin(), leaves.end(),
                                     [](const c10::IValue &leaf) { return leaf.isTensor() || leaf.isObject(); });
  if (is_plain || value.isTensor())
    return number_of_constant(value, as);
  return number_of_container(value, as);
}

int64_t Tracer::number_of_constant(const c10::IValue &value, const Value *as) {
  log_.constants.push_back(value);
  const int64_t number =
      add({TraceLog::Step::Constant, nullptr, as, static_cast<int64_t>(log_.constants.size()) - 1, {}});
  know(value, number);
  return number;
}

int64_t Tracer::number_of_container(const c10::IValue &value, const Value *as) {
  if (!value.isTuple() && !value.isList())
    throw CannotFlatten("the model keeps tensors in a value of type " + value.type()->annotation_str() +
                        " that it passes around in objects");
  TraceLog::Step step{value.isTuple() ? TraceLog::Step::Tuple : TraceLog::Step::List, nullptr, as, 0, {}};
  std::vector<c10::IValue> elements;
  if (value.isTuple())
    elements = value.toTupleRef().elements().vec();
  else
    elements = value.toListRef().vec();
  for (const auto &element : elements)
    step.operands.push_back(number_of({element, std::nullopt}, nullptr));
  const int64_t number = add(std::move(step));
  know(value, number);
  return number;
}

int64_t Tracer::add(TraceLog::Step step) {
  if (log_.steps.size() >= most_steps_)
    throw CannotFlatten("the run takes more than " + std::to_string(most_steps_) + " steps");
  const int64_t number = count_;
  count_ += step.kind == TraceLog::Step::Operator ? static_cast<int64_t>(step.node->outputs().size()) : 1;
  log_.steps.push_back(std::move(step));
  return number;
}

void Tracer::know(const c10::IValue &value, int64_t number) {
  const void *identity = identity_of(value);
  if (!identity)
    return;
  known_[identity] = number;
  kept_alive_.push_back(value);
}

} // namespace repro_minify
