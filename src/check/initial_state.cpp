#include "check/initial_state.h"

#include "check/compare_runs.h"
#include "program/compute.h"
#include "program/shared_pages.h"
#include "program/values.h"
#include "repro_minify/backend_parts.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include <malloc.h>

namespace repro_minify {
namespace {

/// Returns a hash of every byte of the storage, eight at a time. It need not be a strong one: no program writes bytes
/// in order to make it collide.
uint64_t hash_of_storage(const at::Tensor &tensor) {
  const auto *bytes = static_cast<const unsigned char *>(tensor.storage().data());
  const size_t size = tensor.storage().nbytes();
  uint64_t hash = 0xCBF29CE484222325ull ^ size;
  const auto add = [&](uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  };
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    add(word);
  }
  for (; i < size; ++i)
    add(bytes[i]);
  return hash;
}

/// In the order of Observed::state.
std::vector<c10::IValue> state_of(const Instance &instance, bool module) {
  std::vector<c10::IValue> values;
  if (module) {
    for (const auto &parameter : instance.module.named_parameters())
      values.emplace_back(parameter.value);
    for (const auto &buffer : instance.module.named_buffers())
      values.emplace_back(buffer.value);
  }
  values.insert(values.end(), instance.arguments.begin(), instance.arguments.end());
  return values;
}

bool is_plain(const at::Tensor &tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.has_storage() &&
         !tensor.is_quantized() && !tensor.is_conj() && !tensor.is_neg();
}

bool same_tensor(const at::Tensor &before, const at::Tensor &after) {
  if (!is_plain(before) || !is_plain(after) || before.scalar_type() != after.scalar_type() ||
      before.sizes() != after.sizes() || before.strides() != after.strides() ||
      before.storage_offset() != after.storage_offset() || before.storage().nbytes() != after.storage().nbytes())
    return false;
  if (are_same_pages(before.storage(), after.storage()))
    return true;
  const size_t bytes = before.storage().nbytes();
  return bytes == 0 || std::memcmp(before.storage().data(), after.storage().data(), bytes) == 0;
}

bool same_scalar(const c10::IValue &before, const c10::IValue &after) {
  if (before.tagKind() != after.tagKind())
    return false;
  return before.isNone() ||
         ((before.isInt() || before.isDouble() || before.isBool() || before.isString()) && before == after);
}

} // namespace

std::optional<InitialState::Contents> InitialState::contents_of(const at::Tensor &tensor) {
  if (!is_plain(tensor))
    return std::nullopt;
  const auto &storage = tensor.storage();
  Contents contents{storage.unsafeGetStorageImpl(), storage.data(),       storage.nbytes(),
                    tensor.scalar_type(),           tensor.sizes().vec(), tensor.strides().vec(),
                    tensor.storage_offset(),        std::nullopt};
  if (!is_untouched(storage))
    contents.hash = hash_of_storage(tensor);
  return contents;
}

InitialState::InitialState(const Instance &instance, bool module) : arguments_(instance.arguments) {
  const auto values = state_of(instance, module);
  for (size_t i = 0; i + arguments_.size() < values.size(); ++i)
    module_.push_back(contents_of(values[i].toTensor()));
}

bool InitialState::same_argument(const c10::IValue &before, const c10::IValue &after) {
  std::vector<c10::IValue> x, y;
  flatten_value(before, x);
  flatten_value(after, y);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const c10::IValue &one, const c10::IValue &other) {
    return one.isTensor() && other.isTensor() ? same_tensor(one.toTensor(), other.toTensor()) : same_scalar(one, other);
  });
}

bool InitialState::still_holds(size_t place, const c10::IValue &value) const {
  if (place >= module_.size())
    return place - module_.size() < arguments_.size() && same_argument(arguments_[place - module_.size()], value);
  const auto &before = module_[place];
  if (!before || !value.isTensor() || !is_plain(value.toTensor()))
    return false;
  const at::Tensor &tensor = value.toTensor();
  const auto &storage = tensor.storage();
  if (storage.unsafeGetStorageImpl() != before->storage || storage.data() != before->data ||
      storage.nbytes() != before->bytes || tensor.scalar_type() != before->type || tensor.sizes() != before->sizes ||
      tensor.strides() != before->strides || tensor.storage_offset() != before->offset)
    return false;
  return before->hash ? hash_of_storage(tensor) == *before->hash : is_untouched(storage);
}

void complete_state(Observed &ref, Observed &res, Observed *fp64, const std::function<Instance()> &fresh, bool module) {
  const size_t size = std::min(ref.state.size(), res.state.size());
  std::vector<size_t> missing;
  for (size_t i = 0; i < size; ++i)
    if (ref.unchanged[i].empty() != res.unchanged[i].empty())
      missing.push_back(i);
  if (missing.empty())
    return;
  const Instance instance = fresh();
  const auto values = state_of(instance, module);
  const auto fill = [&](Observed &observed, size_t i, bool double_precision) {
    if (i >= observed.state.size() || observed.unchanged[i].empty())
      return;
    observed.state[i] =
        SharedCloner({.requires_grad = false, .double_precision = double_precision}).clone(values.at(i));
    observed.unchanged[i].clear();
  };
  for (const size_t i : missing) {
    fill(ref, i, false);
    fill(res, i, false);
    if (fp64)
      fill(*fp64, i, true);
  }
}

namespace {

/// One instance compiled and called, all of it over memory that is filled like this.
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

/// Which piece of memory a call gets is up to chance too, so that one filling may give two or three answers. They come
/// from the filling where each gives answers of its own, and gives them again.
bool follows_the_fill(const Runs &usual, const Runs &other, size_t call) {
  return any_equal(usual, usual, call) && any_equal(other, other, call) && !any_equal(usual, other, call);
}

const char *ask(const std::function<std::vector<Observed>(Fill)> &run) {
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
    child.reply(ask([&](Fill fill) { return run_over(fill, factory, *backend, options); }));
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
