#include "backends/inductor_like/lowering.h"

#include "backends/inductor_like/fold_constants.h"
#include "backends/inductor_like/lazy.h"
#include "backends/inductor_like/pointwise.h"
#include "backends/inductor_like/views.h"
#include "program/values.h"

#include <ATen/Version.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/result_type.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace repro_minify::inductor_like {
namespace {

namespace jit = torch::jit;
namespace prim = torch::jit::prim;

// When a value is computed once for all its readers instead of again for each (after realize_* in
// torch/_inductor/config.py): statements of its expression.
constexpr size_t most_repeated = 8, most_in_one = 60;

/// The CUDA device of the first tensor that is on one: the CPU's are beside it for a while only, or numbers.
c10::Device device_of_kernels(const StraightLine &line, const Observation &seen) {
  const auto device_of = [&](const jit::Value *value) {
    const ObservedTensor *tensor = seen.tensor(value);
    return tensor && tensor->plain ? tensor->device : c10::Device(c10::kCPU);
  };
  for (const auto *input : line.graph->inputs())
    if (device_of(input).is_cuda())
      return device_of(input);
  for (const auto *node : line.graph->nodes())
    for (const auto *output : node->outputs())
      if (device_of(output).is_cuda())
        return device_of(output);
  return c10::kCPU;
}

class Lowering {
public:
  Lowering(const StraightLine &line, const LoweringOptions &options)
      : line_(line), options_(options), seen_(observe(line)) {
    if (options.constants)
      constants_ = constant_values(line);
  }

  Plan run() {
    plan_.graph = line_.graph;
    plan_.device = device_of_kernels(line_, seen_);
    for (const auto *input : line_.graph->inputs()) {
      plan_.inputs.push_back(new_slot());
      slots_[input] = plan_.inputs.back();
    }
    for (auto *node : line_.graph->nodes())
      visit(node);
    for (auto *output : line_.graph->outputs())
      plan_.outputs.push_back(slot_of(output));
    drop_unread(plan_);
    for (size_t k = 0, next = 0; k < plan_.steps.size(); ++k)
      if (auto *kernel = std::get_if<KernelStep>(&plan_.steps[k]))
        kernel->name = "kernel" + std::to_string(next++);
    return std::move(plan_);
  }

private:
  // Nodes.

  void visit(jit::Node *node) {
    if (node->kind() == prim::Constant || node->kind() == prim::ListConstruct || node->kind() == prim::TupleConstruct)
      return; // made where they are needed
    if (!node->outputs().empty() && std::none_of(node->outputs().begin(), node->outputs().end(),
                                                 [&](const auto *output) { return holds_tensors(output); }))
      return; // numbers: the same in each run
    if (node->outputs().size() == 1 && seen_.tensor(node->output()))
      if (const auto lazy = lowered(node)) {
        lazy_[node->output()] = *lazy;
        compute_once_if_worth_it(node);
        return;
      }
    if (unpack(node) || row_statistics(node))
      return;
    if (!node->outputs().empty() && constants_.count(node->outputs()[0]))
      return; // known when it is needed
    aten(node);
  }

  std::optional<Lazy> lowered(jit::Node *node) {
    const ObservedTensor &result = *seen_.tensor(node->output());
    if (!is_for_kernels(result))
      return std::nullopt;
    if (auto lazy = view(node, result))
      return lazy;
    if (options_.reductions)
      if (auto lazy = reduction(node, result))
        return lazy;
    if (!options_.pointwise)
      return std::nullopt;
    if (auto lazy = copy(node, result))
      return lazy;
    if (auto lazy = filled(node, result))
      return lazy;
    return pointwise(node, result);
  }

  std::optional<Lazy> view(jit::Node *node, const ObservedTensor &result) {
    if (node->inputs().empty() || !has_elements(node->input(0)))
      return std::nullopt;
    // A view of a tensor that is neither an expression nor in memory yet is ATen's own.
    if (!lazy_.count(node->input(0)) && !is_view_of_memory(node->input(0)))
      return std::nullopt;
    auto lazy = view_of(node, elements(node->input(0)), seen_, result);
    if (lazy)
      views_[node->output()] = node;
    return lazy;
  }

  bool is_view_of_memory(const jit::Value *value) const { return slots_.count(value) > 0; }

  /// Operators that give the same elements, of another type perhaps, in memory of their own.
  std::optional<Lazy> copy(jit::Node *node, const ObservedTensor &result) {
    static const std::set<std::string> names = {
        "aten::to",      "aten::_to_copy",        "aten::type_as",       "aten::clone",     "aten::contiguous",
        "aten::dropout", "aten::feature_dropout", "aten::alpha_dropout", "aten::lift_fresh"};
    const std::string kind = node->kind().toQualString();
    if (!names.count(kind) || !has_elements(node->input(0)))
      return std::nullopt;
    if (kind.find("dropout") != std::string::npos &&
        (seen_.constant(node->input(2)).toBool() && seen_.constant(node->input(1)).toDouble() != 0))
      return std::nullopt;
    return rounded(cast(elements(node->input(0)), result.dtype));
  }

  std::optional<Lazy> filled(jit::Node *node, const ObservedTensor &result) {
    const std::string kind = node->kind().toQualString();
    c10::Scalar value;
    if (kind == "aten::zeros_like" || kind == "aten::zeros" || kind == "aten::new_zeros")
      value = 0;
    else if (kind == "aten::ones_like" || kind == "aten::ones" || kind == "aten::new_ones")
      value = 1;
    else if ((kind == "aten::full_like" || kind == "aten::full") && seen_.constant(node->input(1)).isScalar())
      value = seen_.constant(node->input(1)).toScalar();
    else
      return std::nullopt;
    const Element element = *element_of(result.dtype);
    return rounded(Lazy{result.sizes, result.dtype, [value, element](Body &body, const std::vector<Index> &) {
                          return body.local(compute_type(element), literal(value, element));
                        }});
  }

  // Pointwise operators.

  struct Operand {
    std::optional<Lazy> tensor;
    c10::Scalar number = 0;
    Element element = Element::Float32; ///< of the tensor
    bool condition = false;
  };

  std::optional<Lazy> pointwise(jit::Node *node, const ObservedTensor &result) {
    const Element compute = compute_of(node, *element_of(result.dtype));
    const auto rule = pointwise_rule(node, seen_, compute);
    if (!rule)
      return std::nullopt;
    const Element element = rule->operands == Operands::Result    ? *element_of(result.dtype)
                            : rule->operands == Operands::Boolean ? Element::Bool
                                                                  : compute;
    std::vector<Operand> operands;
    for (size_t k = 0; k < rule->inputs.size(); ++k) {
      auto operand = operand_of(node->input(rule->inputs[k]), result.sizes);
      if (!operand)
        return std::nullopt;
      operand->condition = std::find(rule->boolean.begin(), rule->boolean.end(), k) != rule->boolean.end();
      operands.push_back(std::move(*operand));
    }
    const bool is_relu = node->kind() == c10::Symbol::fromQualString("aten::relu");
    plan_.raises |= is_relu && options_.inject == "relu-runtime-error";
    const std::string type = rule->operands == Operands::Result ? compute_type(element) : "bool";
    const std::string expression = is_relu ? injected(rule->expression) : rule->expression;
    return rounded(Lazy{result.sizes, result.dtype,
                        [operands, expression, type, element, sizes = result.sizes,
                         looped = in_full_loops(node, result)](Body &body, const std::vector<Index> &at) {
                          const std::string past = is_past(flat_index(at, contiguous_strides(sizes)), looped);
                          return evaluated(body, at, operands, expression, type, element, past);
                        }});
  }

  /// How many elements ATen computes two vectors at a time, where it does so from the first to the last: contiguous
  /// operands of the result's size.
  int64_t in_full_loops(const jit::Node *node, const ObservedTensor &result) const {
    const int64_t count = std::accumulate(result.sizes.begin(), result.sizes.end(), int64_t{1}, std::multiplies<>());
    if (plan_.device.is_cuda())
      return count;
    for (const auto *input : node->inputs())
      if (const auto *tensor = seen_.tensor(input);
          tensor && (tensor->sizes != result.sizes || tensor->strides != contiguous_strides(tensor->sizes)))
        return count;
    const int64_t vector = at::get_cpu_capability() == "AVX512" ? 64 : 32; // bytes
    return count - count % (2 * vector / static_cast<int64_t>(c10::elementSize(result.dtype)));
  }

  static std::string is_past(const Index &place, int64_t looped) {
    return looped == 0                ? "1"
           : place.largest() < looped ? "0"
                                      : "(" + place.text() + " >= " + std::to_string(looped) + ")";
  }

  static std::string evaluated(Body &body, const std::vector<Index> &at, const std::vector<Operand> &operands,
                               const std::string &expression, const std::string &type, Element element,
                               const std::string &past) {
    std::vector<std::string> texts;
    for (const Operand &operand : operands) {
      const Element wanted = operand.condition ? Element::Bool : element;
      texts.push_back(operand.tensor ? converted(body, operand.tensor->load(body, at), operand.element, wanted)
                                     : literal(operand.number, wanted));
    }
    return body.local(type, filled_in(expression, texts, element, past));
  }

  /// Returns the type that the operands of a comparison promote to; for anything else the type of the result.
  Element compute_of(const jit::Node *node, Element result) const {
    if (result != Element::Bool)
      return result;
    at::native::ResultTypeState state = {};
    for (const auto *input : node->inputs()) {
      const c10::IValue &value = seen_.constant(input);
      if (value.isTensor() && value.toTensor().defined())
        state = at::native::update_result_type_state(value.toTensor(), state);
      else if (value.isScalar())
        state = at::native::update_result_type_state(value.toScalar(), state);
    }
    return element_of(at::native::result_type(state)).value_or(result);
  }

  std::optional<Operand> operand_of(jit::Value *value, const std::vector<int64_t> &sizes) {
    const c10::IValue &found = seen_.constant(value);
    Operand operand;
    if (is_number_beside_cuda(value)) {
      operand.number = found.toTensor().item();
      return operand;
    }
    if (found.isTensor()) {
      if (!has_elements(value))
        return std::nullopt;
      operand.tensor = broadcast(elements(value), sizes);
      operand.element = *element_of(operand.tensor->dtype);
      return operand;
    }
    if (!found.isScalar() || found.isComplexDouble())
      return std::nullopt;
    operand.number = found.toScalar();
    return operand;
  }

  /// A constant on the CPU, without dimensions, for kernels on CUDA: traced programs have their numbers so. (Not one
  /// that a run could change: it would have to be read in each.)
  bool is_number_beside_cuda(const jit::Value *value) const {
    const ObservedTensor *tensor = seen_.tensor(value);
    return plan_.device.is_cuda() && tensor && tensor->plain && tensor->device.is_cpu() && tensor->sizes.empty() &&
           element_of(tensor->dtype) && value->node()->kind() == prim::Param && line_.constants.at(value->offset());
  }

  /// The faults that PyTorch's own minifier is tested with (inject_relu_bug_TESTING_ONLY).
  std::string injected(const std::string &expression) const {
    if (options_.inject == "relu-compile-error")
      return "compile error!";
    if (options_.inject == "relu-internal-error")
      throw std::logic_error("injected: relu cannot be lowered");
    if (options_.inject == "relu-accuracy")
      return "$0 + T(1)";
    return expression;
  }

  /// Where 16-bit casts are emulated each operator rounds its result.
  Lazy rounded(Lazy lazy) const {
    const Element element = *element_of(lazy.dtype);
    if (!options_.emulate_precision_casts || !is_16_bit(element))
      return lazy;
    lazy.load = [load = lazy.load, element](Body &body, const std::vector<Index> &at) {
      return body.local("float",
                        "static_cast<float>(" + std::string(storage_type(element)) + "(" + load(body, at) + "))");
    };
    return lazy;
  }

  // Reductions.

  struct ReductionRule {
    Fold fold = Fold::None;
    size_t dims = 0; ///< input with the dimensions; 0: all
    bool mean = false;
  };

  std::optional<ReductionRule> reduction_rule(const jit::Node *node) const {
    static const std::map<std::string, ReductionRule> table = {
        {"aten::sum", {Fold::Sum, 0, false}},      {"aten::sum.dim_IntList", {Fold::Sum, 1, false}},
        {"aten::mean", {Fold::Sum, 0, true}},      {"aten::mean.dim", {Fold::Sum, 1, true}},
        {"aten::amax", {Fold::Largest, 1, false}}, {"aten::amin", {Fold::Smallest, 1, false}},
        {"aten::max", {Fold::Largest, 0, false}},  {"aten::min", {Fold::Smallest, 0, false}},
        {"aten::prod", {Fold::Product, 0, false}}, {"aten::prod.dim_int", {Fold::Product, 1, false}},
        {"aten::any", {Fold::Any, 0, false}},      {"aten::any.dim", {Fold::Any, 1, false}},
        {"aten::all", {Fold::All, 0, false}},      {"aten::all.dim", {Fold::All, 1, false}}};
    if (!node->maybeSchema())
      return std::nullopt;
    const std::string &overload = node->schema().overload_name();
    const auto found = table.find(node->kind().toQualString() + (overload.empty() ? "" : "." + overload));
    return found == table.end() ? std::nullopt : std::optional(found->second);
  }

  std::vector<bool> reduced_dims(const jit::Node *node, const ReductionRule &rule, size_t rank) const {
    std::vector<int64_t> dims;
    if (rule.dims > 0) {
      const c10::IValue &given = seen_.constant(node->input(rule.dims));
      if (given.isInt())
        dims = {given.toInt()};
      else if (given.isIntList())
        dims = given.toIntVector();
    }
    std::vector<bool> reduced(rank, dims.empty());
    for (const int64_t dim : dims)
      if (rank > 0)
        reduced[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim)] = true;
    return reduced;
  }

  std::optional<Lazy> reduction(jit::Node *node, const ObservedTensor &result) {
    const auto rule = reduction_rule(node);
    if (!rule || !has_elements(node->input(0)))
      return std::nullopt;
    const Lazy source = elements(node->input(0));
    const auto reduced = reduced_dims(node, *rule, source.sizes.size());
    std::vector<int64_t> kept, folded;
    for (size_t d = 0; d < reduced.size(); ++d)
      (reduced[d] ? folded : kept).push_back(source.sizes[d]);
    const int64_t count = std::accumulate(folded.begin(), folded.end(), int64_t{1}, std::multiplies<>());
    if (count == 0)
      return std::nullopt; // an empty reduction has rules of its own
    const Element out = *element_of(result.dtype);
    const Element accumulator =
        rule->fold == Fold::Any || rule->fold == Fold::All ? Element::Bool : compute_element(out);
    if (out == Element::UInt8 && (rule->fold == Fold::Any || rule->fold == Fold::All))
      return std::nullopt;
    KernelOutput output;
    output.fold = rule->fold;
    output.folded = folded;
    output.accumulator = accumulator;
    output.value = [source, reduced, accumulator, from = *element_of(source.dtype)](Body &body,
                                                                                    const std::vector<Index> &at) {
      size_t kept_at = 0, folded_at = static_cast<size_t>(std::count(reduced.begin(), reduced.end(), false));
      std::vector<Index> indices;
      for (const bool is_reduced : reduced)
        indices.push_back(at[is_reduced ? folded_at++ : kept_at++]);
      return converted(body, source.load(body, indices), from, accumulator);
    };
    Lazy made = computed(std::move(output), kept, dtype_of(accumulator));
    if (rule->mean)
      made = scaled(made, count);
    made = cast(made, result.dtype);
    if (!options_.fuse)
      made = in_memory(made);
    return reshaped(rounded(made), result.sizes);
  }

  /// Lowers mean and reciprocal standard deviation of native_layer_norm; false where its first output is read too.
  bool row_statistics(jit::Node *node) {
    if (node->kind() != c10::Symbol::fromQualString("aten::native_layer_norm") || node->output(0)->hasUses() ||
        !options_.reductions || !has_elements(node->input(0)))
      return false;
    const Lazy source = elements(node->input(0));
    const Element element = *element_of(source.dtype);
    const size_t kept = source.sizes.size() - seen_.constant(node->input(1)).toIntVector().size();
    const std::vector<int64_t> sizes(source.sizes.begin(), source.sizes.begin() + static_cast<std::ptrdiff_t>(kept));
    const std::vector<int64_t> folded(source.sizes.begin() + static_cast<std::ptrdiff_t>(kept), source.sizes.end());
    const int64_t count = std::accumulate(folded.begin(), folded.end(), int64_t{1}, std::multiplies<>());
    if (count == 0 || is_16_bit(element))
      return false;
    const Lazy mean = computed({{}, source.load, Fold::Mean, folded, element}, sizes, source.dtype);
    Lazy scale = computed({{}, source.load, Fold::Squares, folded, element}, sizes, source.dtype);
    const double eps = seen_.constant(node->input(4)).toDouble();
    scale.load = [load = scale.load, element, count, eps](Body &body, const std::vector<Index> &at) {
      const std::string variance = body.local(compute_type(element), load(body, at) + " / " + literal(count, element));
      return body.local(compute_type(element),
                        filled_in("T(1) / @sqrt($0 + $1)", {variance, literal(eps, element)}, element));
    };
    for (size_t k = 1; k <= 2; ++k)
      lazy_[node->output(k)] = reshaped(k == 1 ? mean : scale, seen_.tensor(node->output(k))->sizes);
    return true;
  }

  static Lazy scaled(const Lazy &sum, int64_t count) {
    const Element element = *element_of(sum.dtype);
    return {sum.sizes, sum.dtype, [load = sum.load, element, count](Body &body, const std::vector<Index> &at) {
              return body.local(compute_type(element), load(body, at) + " / " + literal(count, element));
            }};
  }

  // Memory.

  int new_slot() {
    plan_.slots.emplace_back();
    plan_.layouts.emplace_back();
    made_at_.push_back(-1);
    return static_cast<int>(plan_.slots.size()) - 1;
  }

  bool holds_tensors(const jit::Value *value) const {
    bool found = false;
    for_each_tensor(seen_.constant(value), [&](const at::Tensor &) { found = true; });
    return found;
  }

  /// Tensors on another device than the kernels' are ATen's.
  bool is_for_kernels(const ObservedTensor &tensor) const {
    return tensor.plain && tensor.device == plan_.device && element_of(tensor.dtype);
  }

  /// True if a kernel can read it.
  bool has_elements(const jit::Value *value) const {
    const auto *tensor = seen_.tensor(value);
    return tensor && is_for_kernels(*tensor) &&
           std::none_of(tensor->strides.begin(), tensor->strides.end(), [](int64_t stride) { return stride < 0; });
  }

  /// The elements of a value as an expression: its own, or loads from memory.
  Lazy elements(jit::Value *value) {
    if (const auto found = lazy_.find(value); found != lazy_.end())
      return found->second;
    const ObservedTensor &tensor = *seen_.tensor(value);
    const int slot = slot_of(value);
    plan_.layouts[static_cast<size_t>(slot)] = {tensor.dtype, tensor.sizes, tensor.strides};
    const Lazy loads = loaded({slot, *element_of(tensor.dtype)}, tensor.sizes, tensor.strides, tensor.dtype);
    lazy_[value] = loads;
    return loads;
  }

  static Lazy loaded(const BufferRef &buffer, const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides,
                     at::ScalarType dtype) {
    return {sizes, dtype, [buffer, strides](Body &body, const std::vector<Index> &at) {
              return body.load(buffer, flat_index(at, strides));
            }};
  }

  /// Computes the output in a kernel, and gives loads from it.
  Lazy computed(KernelOutput output, const std::vector<int64_t> &sizes, at::ScalarType dtype) {
    const int slot = new_slot();
    output.buffer = {slot, *element_of(dtype)};
    plan_.layouts[static_cast<size_t>(slot)] = {dtype, sizes, contiguous_strides(sizes)};
    schedule(std::move(output), sizes);
    return loaded({slot, *element_of(dtype)}, sizes, contiguous_strides(sizes), dtype);
  }

  Lazy in_memory(const Lazy &lazy) {
    return computed(KernelOutput{{}, lazy.load, Fold::None, {}, Element::Float32}, lazy.sizes, lazy.dtype);
  }

  /// Adds an output to the last kernel that it fits, or to a new one.
  void schedule(KernelOutput output, const std::vector<int64_t> &sizes) {
    const int slot = output.buffer.id;
    const std::set<int> needed = reads({sizes, {output}});
    for (size_t k = plan_.steps.size(); options_.fuse && k-- > 0;) {
      auto *step = std::get_if<KernelStep>(&plan_.steps[k]);
      if (!step || step->kernel.sizes != sizes || step->kernel.outputs.size() >= 16)
        continue;
      const bool available = std::all_of(needed.begin(), needed.end(), [&](int buffer) {
        return made_at_[static_cast<size_t>(buffer)] <= static_cast<int>(k);
      });
      if (!available)
        break; // an earlier kernel has even less
      Kernel joined = step->kernel;
      joined.outputs.push_back(output);
      if (!is_one_loop(joined))
        continue;
      step->kernel = std::move(joined);
      made_at_[static_cast<size_t>(slot)] = static_cast<int>(k);
      return;
    }
    made_at_[static_cast<size_t>(slot)] = static_cast<int>(plan_.steps.size());
    plan_.steps.emplace_back(KernelStep{"", {sizes, {std::move(output)}}, {}});
  }

  void compute_once_if_worth_it(jit::Node *node) {
    jit::Value *value = node->output();
    if (views_.count(value))
      return;
    if (!options_.fuse) {
      slot_of(value);
      return;
    }
    Lazy &lazy = lazy_[value];
    const size_t work = cost(lazy.sizes, lazy.load);
    const bool repeated = value->uses().size() > 1 && (work > most_repeated || is_heavy(node));
    if (work <= most_in_one && !repeated)
      return;
    if (!is_16_bit(*element_of(lazy.dtype))) {
      slot_of(value);
      return;
    }
    // Between kernels 16-bit values stay in float32: TorchInductor has them in one kernel, where they are not rounded.
    Lazy wide = lazy;
    wide.dtype = dtype_of(compute_element(*element_of(lazy.dtype)));
    wide = in_memory(wide);
    lazy.load = wide.load;
  }

  /// The slot that holds the value as ATen would, computing it if it is an expression.
  int slot_of(jit::Value *value) {
    if (const auto found = slots_.find(value); found != slots_.end())
      return found->second;
    if (constants_.count(value))
      return constant_slot(value);
    if (const auto view = views_.find(value); view != views_.end())
      return aten_view(view->second);
    if (const auto lazy = lazy_.find(value); lazy != lazy_.end()) {
      KernelOutput output{{}, lazy->second.load, Fold::None, {}, Element::Float32};
      const Loader loads = computed(std::move(output), lazy->second.sizes, lazy->second.dtype).load;
      const int slot = static_cast<int>(plan_.slots.size()) - 1;
      slots_[value] = slot;
      // From here on it is in memory. (In the kernel that computes it, it is still what it was before it was rounded.)
      lazy->second.load = loads;
      return slot;
    }
    return made(value);
  }

  /// Returns a slot with the observed value, which is the same in each run. Fused expressions go on with the unrounded
  /// value where that was rounded to 16 bits.
  int constant_slot(jit::Value *value) {
    const int slot = new_slot();
    plan_.slots[static_cast<size_t>(slot)] = seen_.constant(value);
    slots_[value] = slot;
    if (const auto lazy = lazy_.find(value);
        lazy != lazy_.end() && (!options_.fuse || !is_16_bit(*element_of(lazy->second.dtype))))
      lazy_.erase(lazy);
    return slot;
  }

  /// Constants, and lists and tuples of what has slots.
  int made(jit::Value *value) {
    jit::Node *node = value->node();
    if (node->kind() != prim::Constant && holds_tensors(value)) {
      aten(node);
      return slots_.at(value);
    }
    const int slot = new_slot();
    plan_.slots[static_cast<size_t>(slot)] = seen_.constant(value);
    slots_[value] = slot;
    return slot;
  }

  int aten_view(jit::Node *node) {
    aten(node);
    return slots_.at(node->output());
  }

  void aten(jit::Node *node) {
    AtenStep step{node, {}, {}};
    for (auto *input : node->inputs())
      step.inputs.push_back(slot_of(input));
    for (auto *output : node->outputs()) {
      const int slot = new_slot();
      slots_[output] = slot;
      step.outputs.push_back(slot);
      made_at_[static_cast<size_t>(slot)] = static_cast<int>(plan_.steps.size());
    }
    plan_.steps.emplace_back(std::move(step));
  }

  /// chunk, split and unbind of an expression, and what takes their lists apart.
  bool unpack(jit::Node *node) {
    if (node->kind() == prim::ListUnpack) {
      const auto found = parts_.find(node->input());
      if (found == parts_.end())
        return false;
      for (size_t k = 0; k < node->outputs().size(); ++k)
        lazy_[node->outputs()[k]] = found->second.at(k);
      return true;
    }
    const bool only_unpacked = node->outputs().size() == 1 &&
                               std::all_of(node->output()->uses().begin(), node->output()->uses().end(),
                                           [](const jit::Use &use) { return use.user->kind() == prim::ListUnpack; });
    if (!only_unpacked || node->inputs().empty() || !lazy_.count(node->input(0)))
      return false;
    const auto parts = parts_of(node, lazy_.at(node->input(0)), seen_);
    if (parts.empty())
      return false;
    parts_[node->output()] = parts;
    return true;
  }

  const StraightLine &line_;
  const LoweringOptions &options_;
  const Observation seen_;
  Plan plan_;
  std::set<const jit::Value *> constants_; ///< what depends on constants alone
  std::map<const jit::Value *, Lazy> lazy_;
  std::map<const jit::Value *, int> slots_;
  std::map<const jit::Value *, jit::Node *> views_; ///< expressions that ATen can have as a view of their source
  std::map<const jit::Value *, std::vector<Lazy>> parts_;
  std::vector<int> made_at_; ///< step that makes each slot; -1: there from the start
};

} // namespace

Plan lower(const StraightLine &line, const LoweringOptions &options) {
  return Lowering(line, options).run();
}

} // namespace repro_minify::inductor_like
