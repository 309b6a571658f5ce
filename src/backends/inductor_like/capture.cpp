#include "backends/inductor_like/capture.h"

#include "core/no_answer.h"
#include "core/text.h"
#include "program/compute.h"
#include "program/shared_pages.h"
#include "program/values.h"
#include "repro_minify/record.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <functional>
#include <set>

namespace repro_minify::inductor_like {

KeepRandomState::KeepRandomState(const std::vector<c10::IValue> &inputs) {
  std::vector<at::Generator> generators = {at::detail::getDefaultCPUGenerator()};
  std::vector<c10::Device> devices;
  for (const auto &input : inputs)
    for_each_tensor(input, [&](const at::Tensor &tensor) {
      if (tensor.is_cuda() && std::find(devices.begin(), devices.end(), tensor.device()) == devices.end())
        devices.push_back(tensor.device());
    });
  for (const c10::Device device : devices)
    generators.push_back(at::globalContext().defaultGenerator(device));
  for (const auto &generator : generators)
    states_.emplace_back(generator, generator.get_state());
}

KeepRandomState::~KeepRandomState() {
  for (auto &[generator, state] : states_)
    generator.set_state(state);
}

namespace {

/// Operators whose result tells the program, not only the tensors, what the data are.
const std::set<std::string, std::less<>> &data_dependent() {
  static const std::set<std::string, std::less<>> names = set_of_words(
      "aten::item aten::Int aten::Float aten::Bool aten::ScalarImplicit aten::IntImplicit aten::FloatImplicit "
      "aten::ComplexImplicit aten::is_nonzero prim::tolist aten::nonzero aten::nonzero_numpy aten::masked_select "
      "aten::unique_dim aten::_unique2 aten::_unique aten::unique_consecutive aten::equal aten::allclose "
      "aten::unique_dim_consecutive aten::_pack_padded_sequence aten::argwhere aten::repeat_interleave aten::bincount "
      "aten::Complex aten::histc");
  return names;
}

bool is_tensor(const Value *value) {
  return value->type()->isSubtypeOf(c10::TensorType::get());
}

/// True if a tensor holds more than sizes and constants (which traced programs compute with in tensors).
bool depends_on_data(const Value *value) {
  const Node *node = value->node();
  if (node->kind() == prim::NumToTensor || node->kind() == prim::Constant)
    return false;
  if (node->kind() == prim::Param || node->kind() == prim::GetAttr || !node->blocks().empty())
    return true;
  const auto &inputs = node->inputs();
  return inputs.empty() || std::any_of(inputs.begin(), inputs.end(),
                                       [](const Value *input) { return is_tensor(input) && depends_on_data(input); });
}

/// True if its result tells what the data are: by its name, or in the form that it has here.
bool tells_data(const Node *node, const std::string &kind) {
  const auto inputs = node->inputs();
  if (kind == "aten::one_hot") { // the largest of them, where no number of classes is given
    const auto classes = jit::constant_as<int64_t>(inputs.at(1));
    return !classes || *classes <= 0;
  }
  return data_dependent().contains(kind) || (kind == "aten::where" && inputs.size() == 1) ||
         (kind == "aten::tensor_split" && is_tensor(inputs.at(1)));
}

void require_independent_of_data(const Graph &graph) {
  const auto depends = [](const Value *input) { return is_tensor(input) && depends_on_data(input); };
  for (const auto *node : all_nodes(graph)) {
    const std::string kind = node->kind().toQualString();
    const auto inputs = node->inputs();
    if (tells_data(node, kind) && std::any_of(inputs.begin(), inputs.end(), depends))
      throw NotCovered(kind + " depends on data");
  }
}

/// The graph of forward with the module's attributes as inputs behind its arguments, and no self.
jit::Stack attributes_to_inputs(Graph &graph, const jit::Module &module, std::vector<std::string> &names) {
  jit::Stack values;
  std::map<std::string, Value *> made;
  std::vector<Block *> blocks = {graph.block()};
  while (!blocks.empty()) {
    Block *block = blocks.back();
    blocks.pop_back();
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node *node = *it++;
      blocks.insert(blocks.end(), node->blocks().begin(), node->blocks().end());
      if (node->kind() != prim::GetAttr)
        continue;
      const std::string name = node->s(jit::attr::name);
      if (node->input() != graph.inputs()[0] || !module.attr(name).isTensor())
        throw NotCovered("attribute " + name + " is no tensor of the module itself");
      auto [slot, is_new] = made.try_emplace(name);
      if (is_new) {
        slot->second = graph.addInput(name);
        values.push_back(module.attr(name));
        names.push_back(name);
      }
      node->output()->replaceAllUsesWith(slot->second);
      node->destroy();
    }
  }
  if (graph.inputs()[0]->hasUses())
    throw NotCovered("forward uses self for something else than its attributes");
  graph.eraseInput(0);
  return values;
}

/// Tensor constants inside the graph become inputs too: they are data, not structure.
void constants_to_inputs(Graph &graph, jit::Stack &values) {
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node *node = *it++;
    if (node->kind() != prim::Constant || !constant_of(node->output()).isTensor())
      continue;
    values.push_back(constant_of(node->output()));
    node->output()->replaceAllUsesWith(graph.addInput());
    node->destroy();
  }
}

std::shared_ptr<jit::tracer::TracingState> &paused_trace() {
  thread_local std::shared_ptr<jit::tracer::TracingState> state;
  return state;
}

/// Two operators without values: what runs between them is not traced.
void register_pauses() {
  const auto pause = [](jit::Stack &) {
    paused_trace() = jit::tracer::getTracingState();
    jit::tracer::setTracingState(nullptr);
  };
  const auto resume = [](jit::Stack &) { jit::tracer::setTracingState(std::exchange(paused_trace(), nullptr)); };
  constexpr auto keeps_its_place = c10::AliasAnalysisKind::CONSERVATIVE;
  static const jit::RegisterOperators operators(
      {jit::Operator("repro_minify::pause_trace() -> ()", pause, keeps_its_place),
       jit::Operator("repro_minify::resume_trace() -> ()", resume, keeps_its_place)});
}

/// torch.tensor and torch.as_tensor of numbers: they write into the memory of a new tensor themselves, so that the
/// tracer sees memory that is never written.
bool is_tensor_literal(const Node *node) {
  const std::string kind = node->kind().toQualString();
  return kind == "aten::tensor" || kind == "aten::_list_to_tensor" ||
         (kind == "aten::as_tensor" && !is_tensor(node->input(0)));
}

/// The tracer meets such a tensor when it is first read, and takes it down as the constant that it is: what it is made
/// of are numbers, which are the same in each run. It takes no constant that requires a gradient, hence the detach. A
/// copy of that is what the program may write to.
void keep_literals_from_the_tracer(Block *block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node *node = *it++;
    for (Block *inner : node->blocks())
      keep_literals_from_the_tracer(inner);
    if (!is_tensor_literal(node))
      continue;
    Graph &graph = *node->owningGraph();
    graph.create(c10::Symbol::fromQualString("repro_minify::pause_trace"), 0)->insertBefore(node);
    const jit::WithInsertPoint here(node->next());
    Value *constant = graph.insert(c10::aten::detach, {node->output()});
    graph.insertNode(graph.create(c10::Symbol::fromQualString("repro_minify::resume_trace"), 0));
    Value *copy = graph.insert(c10::aten::clone, {constant});
    node->output()->replaceAllUsesAfterNodeWith(copy->node(), copy);
  }
}

/// The results of a run: its outputs, and its inputs as it left them.
struct Run {
  c10::IValue result;
  jit::Stack inputs;
};

/// Runs the graph under the tracer.
GraphPtr traced_run(const GraphPtr &graph, const jit::Stack &inputs, Run &seen) {
  const auto run = [&](jit::Stack stack) {
    jit::InterpreterState(jit::Code(graph, "forward")).run(stack);
    seen.result = stack.size() == 1 ? stack[0] : c10::IValue(c10::ivalue::Tuple::create(stack));
    jit::Stack tensors;
    for_each_tensor(seen.result, [&](const at::Tensor &tensor) { tensors.emplace_back(tensor); });
    return tensors;
  };
  GraphPtr traced;
  try {
    traced = jit::tracer::trace(
                 inputs, run, [](const at::Tensor &) { return std::string(); }, /*strict=*/false)
                 .first->graph;
  } catch (const c10::OutOfMemoryError &) {
    jit::tracer::abandon();
    throw;
  } catch (const c10::Error &error) { // eager has run it: it is the tracer that has no way to
    jit::tracer::abandon();
    if (is_out_of_memory(error.what_without_backtrace()))
      throw;
    throw NotCovered(std::string("it cannot be traced: ") + first_sentence(error.what_without_backtrace()));
  } catch (...) {
    jit::tracer::abandon();
    throw;
  }
  // Several outputs come back as one tuple.
  jit::LowerSimpleTuples(traced);
  return traced;
}

/// The inputs stay as they are.
GraphPtr trace(const GraphPtr &graph, const jit::Stack &inputs, Run &seen) {
  for (const bool lends : {true, false}) {
    const KeepRandomState random(inputs);
    RunInputs given(inputs, lends);
    GraphPtr traced = traced_run(graph, given.values(), seen);
    if (given.take_back())
      continue;
    seen.inputs = given.values();
    return traced;
  }
  throw std::logic_error("a run has written to what it was not lent");
}

/// True if both map the same pages alike and were never written to: they need no comparison, which is slow for large
/// parameters.
bool is_the_same_mapping(const at::Tensor &one, const at::Tensor &other) {
  return one.has_storage() && other.has_storage() && one.strides() == other.strides() &&
         one.storage_offset() == other.storage_offset() && are_same_pages(one.storage(), other.storage());
}

/// LibTorch has no arithmetic in float8 and in unsigned integers of more than 8 bits.
at::Tensor with_arithmetic(const at::Tensor &tensor) {
  const c10::ScalarType type = tensor.scalar_type();
  return at::isFloat8Type(type) || c10::isBarebonesUnsignedType(type) ? tensor.to(at::kDouble) : tensor;
}

bool looks_like(const c10::IValue &found, const at::Tensor &expected) {
  if (!found.isTensor() || found.toTensor().sizes() != expected.sizes() ||
      found.toTensor().scalar_type() != expected.scalar_type())
    return false;
  const at::Tensor &tensor = found.toTensor();
  if (is_the_same_mapping(tensor, expected))
    return true;
  return tensor.is_quantized() || tensor.layout() != c10::kStrided ||
         at::allclose(with_arithmetic(tensor), with_arithmetic(expected), /*rtol=*/1e-2, /*atol=*/1e-2,
                      /*equal_nan=*/true);
}

/// Where the trace lost something that the rest cannot run without.
Observation observed_again(const StraightLine &line) {
  try {
    return observe(line);
  } catch (const c10::OutOfMemoryError &) {
    throw;
  } catch (const c10::Error &error) {
    if (is_out_of_memory(error.what_without_backtrace()))
      throw;
    throw NotCovered("what was traced cannot be run: " + first_sentence(error.what_without_backtrace()));
  }
}

/// How many elements a mask takes depends on the data.
void require_no_mask(const StraightLine &line, const Observation &seen) {
  for (const auto *node : line.graph->nodes()) {
    if (node->kind() != c10::aten::index)
      continue;
    for (const auto *index : node->input(1)->node()->inputs())
      if (const auto *tensor = seen.tensor(index); tensor && (tensor->dtype == at::kBool || tensor->dtype == at::kByte))
        throw NotCovered("aten::index with a mask depends on data");
  }
}

/// The tracer believes alias annotations, and drops a write that no annotated alias shows.
void require_same_as(const Run &seen, const StraightLine &line) {
  const KeepRandomState random(line.inputs);
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const Observation again = observed_again(line);
  require_no_mask(line, again);
  size_t next = 0;
  bool same = true;
  for_each_tensor(seen.result, [&](const at::Tensor &expected) {
    same = same && looks_like(again.values.at(line.graph->outputs()[next++]), expected);
  });
  for (size_t k = 0; k < seen.inputs.size(); ++k)
    same = same && (!seen.inputs[k].isTensor() ||
                    looks_like(again.values.at(line.graph->inputs()[k]), seen.inputs[k].toTensor()));
  if (!same)
    throw NotCovered("what was traced does not compute what was run");
}

} // namespace

c10::IValue with_tensors(const c10::IValue &value, const std::vector<at::Tensor> &tensors) {
  size_t next = 0;
  const std::function<c10::IValue(const c10::IValue &)> fill = [&](const c10::IValue &part) -> c10::IValue {
    if (part.isTensor())
      return part.toTensor().defined() ? tensors.at(next++) : part;
    if (part.isTuple()) {
      std::vector<c10::IValue> elements;
      for (const auto &element : part.toTupleRef().elements())
        elements.push_back(fill(element));
      return c10::ivalue::Tuple::create(elements);
    }
    if (part.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor &element : part.toTensorVector())
        list.push_back(fill(element).toTensor());
      return list;
    }
    return part;
  };
  return fill(value);
}

std::vector<std::string> attribute_names(const jit::Module &module) {
  GraphPtr graph = module.get_method("forward").graph()->copy();
  jit::Inline(*graph);
  std::vector<std::string> names;
  attributes_to_inputs(*graph, module, names);
  return names;
}

std::pair<StraightLine, c10::IValue> capture(const jit::Module &module, const std::vector<c10::IValue> &arguments) {
  GraphPtr graph = module.get_method("forward").graph()->copy();
  jit::Inline(*graph);
  require_independent_of_data(*graph);
  StraightLine line;
  line.inputs = arguments;
  line.arguments = arguments.size();
  for (const auto &argument : arguments)
    if (!argument.isTensor())
      throw NotCovered("an argument is no tensor");
  std::vector<std::string> names;
  const jit::Stack attributes = attributes_to_inputs(*graph, module, names);
  line.inputs.insert(line.inputs.end(), attributes.begin(), attributes.end());
  line.constants.assign(line.inputs.size(), false);
  constants_to_inputs(*graph, line.inputs);
  register_pauses();
  keep_literals_from_the_tracer(graph->block());
  Run seen;
  line.graph = trace(graph, line.inputs, seen);
  size_t tensors = 0;
  for_each_tensor(seen.result, [&](const at::Tensor &) { ++tensors; });
  if (tensors != line.graph->outputs().size())
    throw NotCovered("its result is not made of tensors");
  constants_to_inputs(*line.graph, line.inputs);
  line.constants.resize(line.inputs.size(), true);
  require_same_as(seen, line);
  return {std::move(line), std::move(seen.result)};
}

StraightLine capture_again(const StraightLine &line) {
  StraightLine result = line;
  Run ignored;
  result.graph = trace(line.graph, line.inputs, ignored);
  constants_to_inputs(*result.graph, result.inputs);
  result.constants.resize(result.inputs.size(), true);
  return result;
}

} // namespace repro_minify::inductor_like
