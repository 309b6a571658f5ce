// The values of a lowering, each as an expression, in memory, or both, and the kernels that put them there.
#pragma once
#include "backends/inductor_like/capture.h"
#include "backends/inductor_like/kernel_strips.h"
#include "backends/inductor_like/plan.h"
#include "backends/inductor_like/pointwise.h"
#include "backends/inductor_like/stages.h"
#include "program/values.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify::inductor_like {

// The last stages: a functional straight line to a plan. Pointwise operators and views are held as expressions and
// computed where they are needed in memory; reductions are loops of their own; all else runs as ATen.

struct LoweringOptions {
  bool pointwise = true;  ///< kernels for pointwise operators
  bool reductions = true; ///< kernels for reductions
  /// Several operators in one kernel. Without it each has its own, and rounds its result.
  bool fuse = true;
  bool constants = true;                ///< what depends on constants alone is not computed in each run
  bool emulate_precision_casts = false; ///< round to 16 bits after each operator inside a kernel too
  std::string inject;                   ///< relu-compile-error, relu-accuracy, ...; empty: nothing
};

/// The plan without its source.
Plan lower(const StraightLine &line, const LoweringOptions &options);

// A tensor that has not been computed: its elements as expressions, the way TorchInductor's lowering holds them.

struct Lazy {
  std::vector<int64_t> sizes;
  at::ScalarType dtype = at::kFloat;
  Loader load; ///< in the compute type of dtype; takes as many indices as there are sizes
};

/// C++ for a value of one type as another.
std::string converted(Body &body, const std::string &value, Element from, Element to);
/// A literal of the type.
std::string literal(const c10::Scalar &scalar, Element type);

/// Returns a view of `source`: the same elements at other places.
Lazy viewed(const Lazy &source, std::vector<int64_t> sizes,
            std::function<std::vector<Index>(const std::vector<Index> &)> place);
/// Broadcast to `sizes`, right-aligned.
Lazy broadcast(const Lazy &source, const std::vector<int64_t> &sizes);
/// The same elements in order, in another shape.
Lazy reshaped(const Lazy &source, const std::vector<int64_t> &sizes);
/// The elements as another type.
Lazy cast(const Lazy &source, at::ScalarType dtype);

class LoweredValues {
protected:
  LoweredValues(const StraightLine &line, const LoweringOptions &options)
      : line_(line), options_(options), seen_(observe(line)) {
    if (options.constants)
      constants_ = constant_values(line);
  }

  int new_slot() {
    plan_.slots.emplace_back();
    plan_.layouts.emplace_back();
    made_at_.push_back(-1);
    return static_cast<int>(plan_.slots.size()) - 1;
  }

  bool holds_tensors(const Value *value) const {
    bool found = false;
    for_each_tensor(seen_.constant(value), [&](const at::Tensor &) { found = true; });
    return found;
  }

  /// Tensors on another device than the kernels' are ATen's.
  bool is_for_kernels(const ObservedTensor &tensor) const {
    return tensor.plain && tensor.device == plan_.device && element_of(tensor.dtype);
  }

  /// True if a kernel can read it.
  bool has_elements(const Value *value) const {
    const auto *tensor = seen_.tensor(value);
    return tensor && is_for_kernels(*tensor) &&
           std::none_of(tensor->strides.begin(), tensor->strides.end(), [](int64_t stride) { return stride < 0; });
  }

  /// The elements of a value as an expression: its own, or loads from memory.
  Lazy elements(Value *value) {
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
  Lazy computed(Kernel::Output output, const std::vector<int64_t> &sizes, at::ScalarType dtype) {
    const int slot = new_slot();
    output.buffer = {slot, *element_of(dtype)};
    plan_.layouts[static_cast<size_t>(slot)] = {dtype, sizes, contiguous_strides(sizes)};
    schedule(std::move(output), sizes);
    return loaded({slot, *element_of(dtype)}, sizes, contiguous_strides(sizes), dtype);
  }

  Lazy in_memory(const Lazy &lazy) {
    return computed(Kernel::Output{{}, lazy.load, Fold::None, {}, Element::Float32}, lazy.sizes, lazy.dtype);
  }

  /// Adds an output to the last kernel that it fits, or to a new one.
  void schedule(Kernel::Output output, const std::vector<int64_t> &sizes) {
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

  void compute_once_if_worth_it(Node *node) {
    Value *value = node->output();
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
  int slot_of(Value *value) {
    if (const auto found = slots_.find(value); found != slots_.end())
      return found->second;
    if (constants_.count(value))
      return constant_slot(value);
    if (const auto view = views_.find(value); view != views_.end())
      return aten_view(view->second);
    if (const auto lazy = lazy_.find(value); lazy != lazy_.end()) {
      Kernel::Output output{{}, lazy->second.load, Fold::None, {}, Element::Float32};
      const Loader loads = computed(std::move(output), lazy->second.sizes, lazy->second.dtype).load;
      const int slot = static_cast<int>(plan_.slots.size()) - 1;
      slots_[value] = slot;
      // From here on it is in memory. (In the kernel that computes it, it is still what it was before it was rounded.)
      lazy->second.load = loads;
      return slot;
    }
    return made(value);
  }

  /// The slot of a value that ATen reads, or that the program returns: a kernel's tensor has the strides of eager
  /// there.
  int slot_as_in_eager(Value *value) {
    const int slot = slot_of(value);
    if (const ObservedTensor *seen = seen_.tensor(value); seen && is_dense_in_another_order(*seen))
      plan_.strides_of_eager[slot] = seen->strides;
    return slot;
  }

  /// Returns a slot with the observed value, which is the same in each run. Fused expressions go on with the unrounded
  /// value where that was rounded to 16 bits.
  int constant_slot(Value *value) {
    const int slot = new_slot();
    plan_.slots[static_cast<size_t>(slot)] = seen_.constant(value);
    slots_[value] = slot;
    if (const auto lazy = lazy_.find(value);
        lazy != lazy_.end() && (!options_.fuse || !is_16_bit(*element_of(lazy->second.dtype))))
      lazy_.erase(lazy);
    return slot;
  }

  /// Constants, and lists and tuples of what has slots.
  int made(Value *value) {
    Node *node = value->node();
    if (node->kind() != prim::Constant && holds_tensors(value)) {
      aten(node);
      return slots_.at(value);
    }
    const int slot = new_slot();
    plan_.slots[static_cast<size_t>(slot)] = seen_.constant(value);
    slots_[value] = slot;
    return slot;
  }

  int aten_view(Node *node) {
    aten(node);
    return slots_.at(node->output());
  }

  /// Throws NotCovered where ATen would look at the memory around a tensor that a kernel makes, which has none.
  void require_own_memory(const Node *node) const {
    if (node->kind() != torch::jit::aten::as_strided)
      return;
    const Value *source = node->input(0);
    const bool is_of_kernel = lazy_.contains(source) && !views_.contains(source) && !slots_.contains(source);
    const ObservedTensor &tensor = *seen_.tensor(source);
    if (is_of_kernel && (tensor.offset != 0 || tensor.storage_elements != product(tensor.sizes)))
      throw NotCovered("aten::as_strided sees the memory around a tensor that a kernel makes");
  }

  void aten(Node *node) {
    require_own_memory(node);
    AtenStep step{node, {}, {}};
    for (auto *input : node->inputs())
      step.inputs.push_back(slot_as_in_eager(input));
    for (auto *output : node->outputs()) {
      const int slot = new_slot();
      slots_[output] = slot;
      step.outputs.push_back(slot);
      made_at_[static_cast<size_t>(slot)] = static_cast<int>(plan_.steps.size());
    }
    plan_.steps.emplace_back(std::move(step));
  }

  // When a value is computed once for all its readers instead of again for each (after realize_* in
  // torch/_inductor/config.py): statements of its expression.
  static constexpr size_t most_repeated = 8, most_in_one = 60;

  const StraightLine &line_;
  const LoweringOptions &options_;
  const Observation seen_;
  Plan plan_;
  std::set<const Value *> constants_; ///< what depends on constants alone
  std::map<const Value *, Lazy> lazy_;
  std::map<const Value *, int> slots_;
  /// Expressions that ATen can have as a view of their source.
  std::map<const Value *, Node *> views_;
  std::vector<int> made_at_; ///< step that makes each slot; -1: there from the start
};

// The operators that show the elements of one tensor at other places.

/// Returns the view of `source`; nothing for a node that is no view or not in the table. `result` is what the output
/// looked like when it was observed.
std::optional<Lazy> view_of(const Node *node, const Lazy &source, const Observation &seen,
                            const ObservedTensor &result);

/// The parts that chunk, split and unbind give; empty for any other node.
std::vector<Lazy> parts_of(const Node *node, const Lazy &source, const Observation &seen);

} // namespace repro_minify::inductor_like
