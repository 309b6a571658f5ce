#include "check/run_program.h"

#include "check/compare_runs.h"
#include "check/compare_values.h"
#include "check/initial_state.h"
#include "program/compute.h"
#include "program/shared_pages.h"
#include "program/values.h"
#include "repro_minify/backend_parts.h"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include <malloc.h>

namespace repro_minify {
namespace {

/// A dense, detached copy: a backend may reuse the memory of what it returned.
c10::IValue observed_copy(const c10::IValue &value) {
  return SharedCloner({.requires_grad = false}).clone(value);
}

/// The tensor that a view, as backward's transpose makes one, is of: it holds the storage as well.
long owners_of(const at::Tensor &tensor) {
  const bool is_only_view = tensor.is_view() && tensor._base().use_count() == 1;
  return static_cast<long>(tensor.storage().use_count()) - (is_only_view ? 1 : 0);
}

/// True if the tensor has no other owner, as one that autograd has just made. Such a gradient need not be copied, and
/// gradients are as large as the model. Memory that a backend owns (at::from_blob) has no allocator.
bool is_ours_alone(const at::Tensor &tensor) {
  return tensor.layout() == at::kStrided && !tensor.requires_grad() && !tensor.is_conj() && !tensor.is_neg() &&
         tensor.use_count() == 1 && tensor.storage().allocator() && owners_of(tensor) == 1 &&
         tensor.is_non_overlapping_and_dense() && tensor.nbytes() == tensor.storage().nbytes();
}

at::Tensor observed_gradient(at::Tensor gradient, const at::Tensor &leaf) {
  if (!gradient.defined())
    return at::zeros_like(leaf).detach();
  return is_ours_alone(gradient) ? gradient.variable_data() : observed_copy(gradient).toTensor();
}

struct Leaf {
  std::string name;
  int argument; ///< -1: a parameter
  at::Tensor tensor;
};

std::vector<Leaf> leaves_of(const torch::jit::Module &module, const std::vector<c10::IValue> &arguments,
                            const RunOptions &options, Observed &observed) {
  std::vector<Leaf> leaves;
  for (const auto &parameter : module.named_parameters()) {
    if (!parameter.value.requires_grad())
      continue;
    if (options.parameter_gradients)
      leaves.push_back({parameter.name, -1, parameter.value});
    else
      ++observed.left_out;
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    for_each_tensor(arguments[i], [&](const at::Tensor &tensor) {
      if (tensor.requires_grad())
        leaves.push_back({"input " + std::to_string(i), static_cast<int>(i), tensor});
    });
  return leaves;
}

std::vector<at::Tensor> tensors_of(const std::vector<Leaf> &leaves) {
  std::vector<at::Tensor> tensors;
  for (const auto &leaf : leaves)
    tensors.push_back(leaf.tensor);
  return tensors;
}

/// One for each leaf; undefined where none gets to it.
std::vector<at::Tensor> gradients_of(const c10::IValue &output, const std::vector<Leaf> &leaves, Observed &observed) {
  const at::Tensor loss = reduce_to_scalar_loss(output);
  observed.has_way_back = loss.defined() && loss.requires_grad();
  if (!observed.has_way_back || leaves.empty())
    return std::vector<at::Tensor>(leaves.size());
  // Autocast is for the forward alone, as PyTorch asks of its users and as the repros have it.
  const c10::impl::ExcludeDispatchKeyGuard without_autocast(c10::autocast_dispatch_keyset);
  return torch::autograd::grad({loss}, tensors_of(leaves), {}, std::nullopt, /*create_graph=*/false,
                               /*allow_unused=*/true);
}

/// One after the other: each is let go of when it is copied.
void observe_gradients(Observed &observed, const std::vector<Leaf> &leaves, std::vector<at::Tensor> gradients) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    observed.gradient_names.push_back(leaves[i].name);
    observed.gradient_arguments.push_back(leaves[i].argument);
    observed.gradients.push_back(observed_gradient(std::move(gradients[i]), leaves[i].tensor));
  }
}

/// Hardly any forward writes to a parameter; without a write there is nothing to copy, which counts for large models.
void observe_state(Observed &observed, const std::string &name, const c10::IValue &value, const RunOptions &options) {
  const bool same = options.unchanged && options.unchanged(observed.state.size(), value);
  observed.state_names.push_back(name);
  observed.unchanged.push_back(same ? type_name(value) : "");
  observed.state.push_back(same ? c10::IValue() : observed_copy(value));
}

void observe_module(Observed &observed, const torch::jit::Module &module, const RunOptions &options) {
  for (const auto &parameter : module.named_parameters())
    observe_state(observed, "parameter " + parameter.name, parameter.value, options);
  observed.parameters = observed.state.size();
  for (const auto &buffer : module.named_buffers())
    observe_state(observed, "buffer " + buffer.name, buffer.value, options);
  observed.buffers = observed.state.size() - observed.parameters;
}

/// The cloner goes, so that the copies have one owner.
std::vector<c10::IValue> fresh_copies(const std::vector<c10::IValue> &arguments, bool grad) {
  SharedCloner cloner({.requires_grad = grad});
  std::vector<c10::IValue> copies;
  for (const auto &argument : arguments)
    copies.push_back(cloner.clone(argument));
  return copies;
}

at::Tensor mean_of(const std::vector<c10::IValue> &parts) {
  at::Tensor total;
  int count = 0;
  for (const auto &part : parts) {
    const at::Tensor loss = reduce_to_scalar_loss(part);
    if (!loss.defined())
      continue;
    total = total.defined() ? total + loss : loss;
    ++count;
  }
  return total.defined() ? total / static_cast<double>(count) : total;
}

at::Tensor loss_of_tensor(at::Tensor tensor) {
  const auto elements = static_cast<double>(tensor.numel());
  if (tensor.is_complex()) // a complex loss has no gradient
    tensor = at::view_as_real(tensor.resolve_conj());
  return tensor.sum() / elements;
}

std::optional<c10::IValue> field(const c10::IValue &value, const char *name) {
  if (value.isTuple()) {
    const auto type = value.type()->expect<c10::TupleType>();
    if (!type->schema())
      return std::nullopt;
    const auto index = type->schema()->argumentIndexWithName(name);
    return index ? std::optional(value.toTupleRef().elements()[*index]) : std::nullopt;
  }
  if (!value.isObject() || !value.toObjectRef().type()->hasAttribute(name))
    return std::nullopt;
  return value.toObjectRef().getAttr(name);
}

/// Compiles one instance and calls it, over memory that is filled like this. Returns what was observed of each call.
std::vector<Observed> run_over(Fill fill, const ModuleFactory &factory, const Backend &backend,
                               const CheckOptions &options) {
  fill_unwritten_memory(fill);
  const RunScope scope(run_settings(backend, options));
  Instance instance = factory({.requires_grad = options.grad, .device = options.device});
  const InitialState before(instance, backend.traits().runs_the_module);
  const Compiled compiled = backend.compile(instance.module);
  const RunOptions how{
      .grad = options.grad,
      .state = !options.only_forward,
      .module = backend.traits().runs_the_module,
      .boxed = backend.traits().boxed_call,
      .unchanged = [&](std::size_t place, const c10::IValue &value) { return before.still_holds(place, value); }};
  std::vector<Observed> runs;
  for (int call = 0; call < (backend.traits().needs_several_calls ? options.calls : 1); ++call) {
    scope.begin_run();
    runs.push_back(run_program(compiled, instance, how));
    scope.end_run();
  }
  return runs;
}

using Runs = std::vector<std::vector<Observed>>; ///< [run][call]

bool equal(const Observed &a, const Observed &b) {
  CompareOptions exactly;
  exactly.rule = CompareRule::Exact;
  exactly.equal_nan = true;
  Verdict ignored;
  return compare_runs(a, b, nullptr, exactly, ignored);
}

bool any_equal(const Runs &some, const Runs &others, size_t call) {
  return std::any_of(some.begin(), some.end(), [&](const auto &one) {
    return std::any_of(others.begin(), others.end(),
                       [&](const auto &other) { return &one != &other && equal(one[call], other[call]); });
  });
}

/// True if the results come from the filling: each filling gives results of its own, and gives them again. (Which piece
/// of memory a call gets is up to chance, so that one filling may give two or three results.)
bool follows_the_fill(const Runs &usual, const Runs &other, size_t call) {
  return any_equal(usual, usual, call) && any_equal(other, other, call) && !any_equal(usual, other, call);
}

/// Returns "yes", "no", or "unknown" where further runs may tell.
const char *depends_on_fill(const std::function<std::vector<Observed>(Fill)> &run) {
  Runs usual = {run(Fill::Usual)}, others = {run(Fill::Other)};
  const size_t calls = usual.front().size();
  const auto any_call = [&](const auto &is) {
    for (size_t call = 0; call < calls; ++call)
      if (is(call))
        return true;
    return false;
  };
  usual.push_back(run(Fill::Usual));
  const auto differs = [&](size_t call) {
    return !equal(usual[0][call], usual[1][call]) || !equal(usual[0][call], others[0][call]);
  };
  if (!any_call(differs))
    return "no";
  others.push_back(run(Fill::Other));
  usual.push_back(run(Fill::Usual));
  others.push_back(run(Fill::Other));
  return any_call([&](size_t call) { return follows_the_fill(usual, others, call); }) ? "yes" : "unknown";
}

} // namespace

at::Tensor reduce_to_scalar_loss(const c10::IValue &output) {
  if (output.isTensor())
    return output.toTensor().defined() ? loss_of_tensor(output.toTensor()) : at::Tensor();
  if (output.isNone() || output.isScalar() || output.isString())
    return {};
  if (const auto logits = field(output, "logits"))
    return reduce_to_scalar_loss(*logits);
  if (output.isTuple())
    return mean_of(output.toTupleRef().elements().vec());
  if (output.isList())
    return mean_of(output.toListRef().vec());
  if (output.isGenericDict()) {
    std::vector<c10::IValue> values;
    for (const auto &entry : output.toGenericDict())
      values.push_back(entry.value());
    return mean_of(values);
  }
  if (const auto mean = field(output, "mean"); mean && mean->isTensor())
    return mean->toTensor().sum();
  throw std::invalid_argument("don't know how to reduce " + output.type()->annotation_str() +
                              " to a loss; without --grad it is not needed");
}

Observed run_program(const std::function<c10::IValue(std::vector<c10::IValue>)> &forward, const Instance &instance,
                     const RunOptions &options) {
  auto copies = fresh_copies(instance.arguments, options.grad);
  Observed observed;
  const auto leaves = options.grad ? leaves_of(instance.module, copies, options, observed) : std::vector<Leaf>{};
  give_memory_back(bytes_of_tensors(tensors_of(leaves))); // that the gradients of an earlier run took
  std::vector<at::Tensor> gradients;
  {
    std::optional<OperatorCounter> counter;
    if (options.operators)
      counter.emplace(observed.operators);
    const c10::IValue output = options.boxed ? forward(std::move(copies)) : forward(copies);
    observed.output = observed_copy(output);
    if (options.grad)
      gradients = gradients_of(output, leaves, observed);
  }
  observe_gradients(observed, leaves, std::move(gradients));
  if (options.state && options.module)
    observe_module(observed, instance.module, options);
  if (options.state && !options.boxed)
    for (size_t i = 0; i < copies.size(); ++i)
      observe_state(observed, "input " + std::to_string(i) + " after the run", copies[i], options);
  return observed;
}

void fill_unwritten_memory(Fill fill) {
#ifdef M_PERTURB
  // Allocated memory then holds 0xaa, hardly more than zero as a number, or 0x40: 3 as float32, 32.5 as float64.
  mallopt(M_PERTURB, fill == Fill::Usual ? usual_perturbation : 0xbf);
#else
  (void)fill;
#endif
}

std::optional<bool> reads_unwritten_memory(ModuleFactory factory, std::shared_ptr<const Backend> backend,
                                           const CheckOptions &options, const Limits &limits) {
  const Job job = [&](Child &child) {
    child.confine(confinement_of(*backend));
    child.reply(depends_on_fill([&](Fill fill) { return run_over(fill, factory, *backend, options); }));
  };
  for (int attempt = 0; attempt < 5; ++attempt) {
    const JobEnd job_end = run_in_sandbox(job, limits);
    if (job_end.ending != Ending::Replied)
      return std::nullopt;
    if (job_end.reply != "unknown")
      return job_end.reply == "yes";
  }
  return std::nullopt;
}

} // namespace repro_minify
