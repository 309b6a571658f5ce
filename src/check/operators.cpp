#include "check/operators.h"

#include "core/text.h"
#include "program/python_call.h"
#include "repro_minify/record.h"

#include <ATen/record_function.h>
#include <torch/csrc/jit/ir/constants.h>

#include <memory>
#include <set>

namespace repro_minify {
namespace {

/// Callbacks are plain functions.
thread_local OperatorCalls *counted = nullptr;
thread_local int depth = 0;

std::unique_ptr<at::ObserverContext> begin_call(const at::RecordFunction &function) {
  if (++depth == 1 && counted)
    ++(*counted)[function.name()];
  return nullptr;
}

void end_call(const at::RecordFunction &, at::ObserverContext *) {
  --depth;
}

constexpr const char *docs = "torch.use_deterministic_algorithms, documentation of PyTorch 2.13.0";
constexpr const char *notes = "PyTorch's notes on reproducibility";
constexpr const char *seeding = "draws from a generator";
constexpr const char *uninitialised = "uninitialised memory";
constexpr const char *atomics = "sums with atomic additions in any order";
constexpr const char *ties = "any of several equal elements";

const std::vector<NondeterministicOperator> nondeterministic = {
    // Forward.
    {"index_add", Direction::Forward, On::Cuda, atomics, docs},
    {"index_copy", Direction::Forward, On::AnyDevice, "repeated indices: the last write wins", docs},
    {"index_put", Direction::Forward, On::AnyDevice, "repeated indices: the order of the writes", docs},
    {"_index_put_impl", Direction::Forward, On::AnyDevice, "repeated indices: the order of the writes", docs},
    {"put", Direction::Forward, On::AnyDevice, "repeated indices: the order of the writes", docs},
    {"scatter", Direction::Forward, On::Cuda, "repeated indices: the order of the writes", docs},
    {"scatter_add", Direction::Forward, On::Cuda, atomics, docs},
    {"scatter_reduce", Direction::Forward, On::Cuda, atomics, docs},
    {"bincount", Direction::Forward, On::Cuda, atomics, docs},
    {"histc", Direction::Forward, On::Cuda, atomics, docs},
    {"kthvalue", Direction::Forward, On::Cuda, ties, notes},
    {"median", Direction::Forward, On::Cuda, ties, docs},
    {"nanmedian", Direction::Forward, On::Cuda, ties, docs},
    {"cumsum", Direction::Forward, On::Cuda, "its partial sums are joined in any order", docs},
    {"max_unpool2d", Direction::Forward, On::AnyDevice, "repeated indices: the order of the writes", docs},
    {"max_unpool3d", Direction::Forward, On::AnyDevice, "repeated indices: the order of the writes", docs},
    {"nll_loss2d", Direction::Forward, On::Cuda, atomics, docs},
    {"nll_loss_nd", Direction::Forward, On::Cuda, atomics, docs},
    {"cross_entropy_loss", Direction::Forward, On::Cuda, atomics, docs},
    // Backward.
    {"adaptive_avg_pool2d", Direction::Backward, On::Cuda, atomics, docs},
    {"adaptive_avg_pool3d", Direction::Backward, On::Cuda, atomics, docs},
    {"adaptive_max_pool2d", Direction::Backward, On::Cuda, atomics, docs},
    {"avg_pool3d", Direction::Backward, On::Cuda, atomics, docs},
    {"fractional_max_pool2d", Direction::Backward, On::Cuda, atomics, docs},
    {"fractional_max_pool3d", Direction::Backward, On::Cuda, atomics, docs},
    {"max_pool2d", Direction::Backward, On::Cuda, atomics, notes},
    {"max_pool3d", Direction::Backward, On::Cuda, atomics, docs},
    {"max_pool3d_with_indices", Direction::Backward, On::Cuda, atomics, docs},
    {"reflection_pad1d", Direction::Backward, On::Cuda, atomics, docs},
    {"reflection_pad2d", Direction::Backward, On::Cuda, atomics, docs},
    {"reflection_pad3d", Direction::Backward, On::Cuda, atomics, docs},
    {"replication_pad1d", Direction::Backward, On::Cuda, atomics, docs},
    {"replication_pad2d", Direction::Backward, On::Cuda, atomics, docs},
    {"replication_pad3d", Direction::Backward, On::Cuda, atomics, docs},
    {"pad", Direction::Backward, On::Cuda, "reflection or replication: atomic additions", docs},
    {"upsample_linear1d", Direction::Backward, On::Cuda, atomics, docs},
    {"upsample_bilinear2d", Direction::Backward, On::Cuda, atomics, docs},
    {"upsample_bicubic2d", Direction::Backward, On::Cuda, atomics, docs},
    {"upsample_trilinear3d", Direction::Backward, On::Cuda, atomics, docs},
    {"grid_sampler", Direction::Backward, On::Cuda, atomics, docs},
    {"grid_sampler_2d", Direction::Backward, On::Cuda, atomics, docs},
    {"grid_sampler_3d", Direction::Backward, On::Cuda, atomics, docs},
    {"embedding_bag", Direction::Backward, On::Cuda, atomics, docs},
    {"ctc_loss", Direction::Backward, On::Cuda, atomics, docs},
    {"gather", Direction::Backward, On::Cuda, atomics, docs},
    {"index", Direction::Backward, On::AnyDevice, "its gradient is an index_put", docs},
    {"index_select", Direction::Backward, On::Cuda, atomics, docs},
    {"repeat_interleave", Direction::Backward, On::Cuda, atomics, docs},
    {"cumprod", Direction::Backward, On::Cuda, "its gradient is a cumsum", docs},
    // No setting makes these reproducible: they read uninitialised memory, or what the seed does not reach.
    {"empty", Direction::Forward, On::AnyDevice, uninitialised, notes},
    {"empty_like", Direction::Forward, On::AnyDevice, uninitialised, notes},
    {"empty_strided", Direction::Forward, On::AnyDevice, uninitialised, notes},
    {"empty_permuted", Direction::Forward, On::AnyDevice, uninitialised, notes},
    {"new_empty", Direction::Forward, On::AnyDevice, uninitialised, notes},
    {"new_empty_strided", Direction::Forward, On::AnyDevice, uninitialised, notes},
    {"resize", Direction::Forward, On::AnyDevice, uninitialised, docs},
    {"resize_as", Direction::Forward, On::AnyDevice, uninitialised, docs},
    {"seed", Direction::Forward, On::AnyDevice, "a seed from the system", notes},
    {"TimePoint", Direction::Forward, On::AnyDevice, "the clock", notes},
    {"bernoulli", Direction::Forward, On::AnyDevice, seeding, notes},
    {"dropout", Direction::Forward, On::AnyDevice, seeding, notes},
    {"multinomial", Direction::Forward, On::AnyDevice, seeding, notes},
    {"normal", Direction::Forward, On::AnyDevice, seeding, notes},
    {"rand", Direction::Forward, On::AnyDevice, seeding, notes},
    {"rand_like", Direction::Forward, On::AnyDevice, seeding, notes},
    {"randint", Direction::Forward, On::AnyDevice, seeding, notes},
    {"randint_like", Direction::Forward, On::AnyDevice, seeding, notes},
    {"randn", Direction::Forward, On::AnyDevice, seeding, notes},
    {"randn_like", Direction::Forward, On::AnyDevice, seeding, notes},
    {"random", Direction::Forward, On::AnyDevice, seeding, notes},
    {"randperm", Direction::Forward, On::AnyDevice, seeding, notes},
    {"uniform", Direction::Forward, On::AnyDevice, seeding, notes},
};

/// "scatter_add_" is the in-place form of "scatter_add".
std::string plain_name(const torch::jit::Node *node) {
  std::string name = short_operator_name(node);
  if (name.size() > 1 && name.back() == '_')
    name.pop_back();
  return name;
}

/// Dropout in eval mode draws nothing.
bool does_nothing(const torch::jit::Node *node) {
  return node->kind() == torch::jit::aten::dropout && node->inputs().size() == 3 &&
         torch::jit::constant_as<bool>(node->input(2)) == false;
}

class RandomnessFinder {
public:
  RandomnessFinder(c10::Device device, bool grad) : device_(device), grad_(grad) {}

  void look_at(const torch::jit::Node *node) {
    const std::string name = plain_name(node);
    if (does_nothing(node))
      return;
    for (const auto &row : nondeterministic) {
      if (name != row.name || (row.direction == Direction::Backward && !grad_) ||
          (row.device == On::Cuda && !device_.is_cuda()))
        continue;
      if (seen_.insert(operator_name(node)).second)
        found_.push_back(
            {operator_name(node), std::string(row.direction == Direction::Backward ? "backward: " : "") + row.why});
    }
  }

  std::vector<UnsteadyOperator> take() { return std::move(found_); }

private:
  c10::Device device_;
  bool grad_;
  std::set<std::string> seen_;
  std::vector<UnsteadyOperator> found_;
};

} // namespace

OperatorCounter::OperatorCounter(OperatorCalls &calls)
    : handle_(at::addThreadLocalCallback(
          at::RecordFunctionCallback(begin_call, end_call).scopes({at::RecordScope::FUNCTION}))) {
  depth = 0;
  counted = &calls;
}

OperatorCounter::~OperatorCounter() {
  counted = nullptr;
  at::removeCallback(handle_);
}

std::vector<std::string> rewritten_operators(const OperatorCalls &eager, const OperatorCalls &optimised) {
  std::vector<std::string> rewritten;
  for (const auto &[name, calls] : eager) {
    const auto found = optimised.find(name);
    if (found == optimised.end() || found->second < calls)
      rewritten.push_back(name);
  }
  return rewritten;
}

const std::vector<NondeterministicOperator> &nondeterministic_operators() {
  return nondeterministic;
}

std::vector<UnsteadyOperator> unsteady_operators(const torch::jit::Graph &graph, c10::Device device, bool grad) {
  RandomnessFinder finder(device, grad);
  for (const torch::jit::Node *node : all_nodes(graph))
    finder.look_at(node);
  return finder.take();
}

std::string to_string(const std::vector<UnsteadyOperator> &operators) {
  return joined(operators, ", ", [](const auto &unsteady) { return unsteady.name + " (" + unsteady.why + ")"; });
}

} // namespace repro_minify
