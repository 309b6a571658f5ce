#include "backends/inductor_like/lowered_values.h"

#include "backends/inductor_like/kernel_strips.h"

#include <ATen/Version.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/result_type.h>

namespace repro_minify::inductor_like {
namespace {

/// The CUDA device of the first tensor that is on one: the CPU's are beside it for a while only, or numbers.
c10::Device device_of_kernels(const StraightLine &line, const Observation &seen) {
  const auto device_of = [&](const Value *value) {
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

class Lowering : LoweredValues {
public:
  Lowering(const StraightLine &line, const LoweringOptions &options) : LoweredValues(line, options) {}

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
      plan_.outputs.push_back(slot_as_in_eager(output));
    drop_unread(plan_);
    for (size_t k = 0, next = 0; k < plan_.steps.size(); ++k)
      if (auto *kernel = std::get_if<KernelStep>(&plan_.steps[k]))
        kernel->name = "kernel" + std::to_string(next++);
    return std::move(plan_);
  }

private:
  // Nodes.

  void visit(Node *node) {
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

  std::optional<Lazy> lowered(Node *node) {
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

  std::optional<Lazy> view(Node *node, const ObservedTensor &result) {
    if (node->inputs().empty() || !has_elements(node->input(0)))
      return std::nullopt;
    // A view of a tensor that is neither an expression nor in memory yet is ATen's own.
    if (!lazy_.count(node->input(0)) && !slots_.count(node->input(0)))
      return std::nullopt;
    auto lazy = view_of(node, elements(node->input(0)), seen_, result);
    if (lazy)
      views_[node->output()] = node;
    return lazy;
  }

  /// Operators that give the same elements, of another type perhaps, in memory of their own.
  std::optional<Lazy> copy(Node *node, const ObservedTensor &result) {
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

  std::optional<Lazy> filled(Node *node, const ObservedTensor &result) {
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

  std::optional<Lazy> pointwise(Node *node, const ObservedTensor &result) {
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
      // Eager, and TorchInductor, compare with what the number is in the tensor's type.
      if (rule->operands == Operands::Promoted && is_16_bit(element) && !operand->tensor) {
        const auto given = static_cast<float>(operand->number.toDouble());
        operand->number = element == Element::BFloat16 ? float(c10::BFloat16(given)) : float(c10::Half(given));
      }
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
  int64_t in_full_loops(const Node *node, const ObservedTensor &result) const {
    const int64_t count = product(result.sizes);
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
  Element compute_of(const Node *node, Element result) const {
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

  std::optional<Operand> operand_of(Value *value, const std::vector<int64_t> &sizes) {
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
  bool is_number_beside_cuda(const Value *value) const {
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

  std::optional<Lazy> reduction(Node *node, const ObservedTensor &result) {
    const auto rule = reduction_rule(node);
    if (!rule || !has_elements(node->input(0)))
      return std::nullopt;
    const Lazy source = elements(node->input(0));
    const auto reduced = reduced_dims(node, *rule, source.sizes.size(), seen_);
    std::vector<int64_t> kept, folded;
    for (size_t d = 0; d < reduced.size(); ++d)
      (reduced[d] ? folded : kept).push_back(source.sizes[d]);
    const int64_t count = product(folded);
    const bool is_logical = rule->fold == Fold::Any || rule->fold == Fold::All;
    const Element out = *element_of(result.dtype), accumulator = is_logical ? Element::Bool : compute_element(out);
    if (count == 0 || (out == Element::UInt8 && is_logical)) // an empty reduction has rules of its own
      return std::nullopt;
    Kernel::Output output;
    output.fold = rule->fold;
    if (out == Element::Bool && output.fold == Fold::Sum)
      output.fold = Fold::Any; // a sum of bools by "+=" may be one of their last bits
    if (out == Element::Bool && output.fold == Fold::Product)
      output.fold = Fold::All;
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
  bool row_statistics(Node *node) {
    if (node->kind() != c10::Symbol::fromQualString("aten::native_layer_norm") || node->output(0)->hasUses() ||
        !options_.reductions || !has_elements(node->input(0)))
      return false;
    const Lazy source = elements(node->input(0));
    const Element element = *element_of(source.dtype);
    const size_t kept = source.sizes.size() - seen_.constant(node->input(1)).toIntVector().size();
    const std::vector<int64_t> sizes(source.sizes.begin(), source.sizes.begin() + static_cast<std::ptrdiff_t>(kept));
    const std::vector<int64_t> folded(source.sizes.begin() + static_cast<std::ptrdiff_t>(kept), source.sizes.end());
    const int64_t count = product(folded);
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

  /// chunk, split and unbind of an expression, and what takes their lists apart.
  bool unpack(Node *node) {
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

  std::map<const Value *, std::vector<Lazy>> parts_; ///< of a list of expressions
};

} // namespace

Plan lower(const StraightLine &line, const LoweringOptions &options) {
  return Lowering(line, options).run();
}

} // namespace repro_minify::inductor_like
