#include "check/operators.h"

#include "core/text.h"
#include "program/python_call.h"
#include "program/surgery.h"
#include "repro_minify/record.h"

#include <ATen/record_function.h>
#include <torch/csrc/jit/ir/constants.h>

#include <functional>
#include <memory>
#include <set>

namespace repro_minify {
namespace {

/// Callbacks are plain functions.
thread_local OperatorCalls *counted_calls = nullptr;
thread_local int depth = 0;

std::unique_ptr<at::ObserverContext> begin_call(const at::RecordFunction &function) {
  if (++depth == 1 && counted_calls)
    ++(*counted_calls)[function.name()];
  return nullptr;
}

void end_call(const at::RecordFunction &, at::ObserverContext *) {
  --depth;
}

/// Operators that need not give the same result twice. In-place and functional forms, and all overloads, are one name.
/// The names are those in the documentation of torch.use_deterministic_algorithms (PyTorch 2.13.0); what draws numbers,
/// and kthvalue, max_pool2d and what only gives uninitialised memory, are in PyTorch's notes on reproducibility.
struct UnsteadyGroup {
  bool backward;  ///< the gradient is what need not be the same
  bool cuda_only; ///< on other devices it is the same
  const char *why;
  std::set<std::string, std::less<>> names; ///< without namespace and trailing underscore
};

constexpr auto why_of_drawing = "draws from a generator";

const std::vector<UnsteadyGroup> unsteady_groups = {
    {false, true, "sums with atomic additions in any order",
     set_of_words("index_add scatter_add scatter_reduce bincount histc nll_loss2d nll_loss_nd cross_entropy_loss")},
    {false, false, "repeated indices: the last write wins", set_of_words("index_copy")},
    {false, false, "repeated indices: the order of the writes",
     set_of_words("index_put _index_put_impl put max_unpool2d max_unpool3d")},
    {false, true, "repeated indices: the order of the writes", set_of_words("scatter")},
    {false, true, "any of several equal elements", set_of_words("kthvalue median nanmedian")},
    {false, true, "its partial sums are joined in any order", set_of_words("cumsum")},
    {true, true, "sums with atomic additions in any order",
     set_of_words("adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d avg_pool3d fractional_max_pool2d "
                  "fractional_max_pool3d max_pool2d max_pool3d max_pool3d_with_indices reflection_pad1d "
                  "reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d "
                  "upsample_linear1d upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d grid_sampler "
                  "grid_sampler_2d grid_sampler_3d embedding_bag ctc_loss gather index_select repeat_interleave")},
    {true, true, "reflection or replication: atomic additions", set_of_words("pad")},
    {true, false, "its gradient is an index_put", set_of_words("index")},
    {true, true, "its gradient is a cumsum", set_of_words("cumprod")},
    // No setting makes these reproducible: they read uninitialised memory, or what the seed does not reach.
    {false, false, "uninitialised memory",
     set_of_words("empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize resize_as")},
    {false, false, "a seed from the system", set_of_words("seed")},
    {false, false, "the clock", set_of_words("TimePoint")},
    {false, false, why_of_drawing,
     set_of_words("bernoulli dropout multinomial normal rand rand_like randint randint_like randn randn_like random "
                  "randperm uniform")},
};

/// "scatter_add_" is the in-place form of "scatter_add".
std::string plain_name(const Node *node) {
  std::string name = short_operator_name(node);
  if (name.size() > 1 && name.back() == '_')
    name.pop_back();
  return name;
}

/// Dropout in eval mode draws nothing.
bool does_nothing(const Node *node) {
  const bool drops_out = node->kind() == torch::jit::aten::dropout || node->kind() == torch::jit::aten::dropout_;
  return drops_out && node->inputs().size() == 3 && torch::jit::constant_as<bool>(node->input(2)) == false;
}

} // namespace

OperatorCounter::OperatorCounter(OperatorCalls &calls)
    : handle_(at::addThreadLocalCallback(
          at::RecordFunctionCallback(begin_call, end_call).scopes({at::RecordScope::FUNCTION}))) {
  depth = 0;
  counted_calls = &calls;
}

OperatorCounter::~OperatorCounter() {
  counted_calls = nullptr;
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

std::vector<UnsteadyOperator> unsteady_operators(const Graph &graph, c10::Device device, bool grad) {
  std::vector<UnsteadyOperator> found;
  std::set<std::string> seen;
  for (const Node *node : all_nodes(graph)) {
    if (does_nothing(node))
      continue;
    for (const UnsteadyGroup &group : unsteady_groups)
      if (group.names.contains(plain_name(node)) && (grad || !group.backward) &&
          (device.is_cuda() || !group.cuda_only) && seen.insert(operator_name(node)).second)
        found.push_back({operator_name(node), (group.backward ? "backward: " : "") + std::string(group.why)});
  }
  return found;
}

bool may_draw(const torch::jit::Graph &graph) {
  const auto group = std::find_if(unsteady_groups.begin(), unsteady_groups.end(),
                                  [](const UnsteadyGroup &one) { return one.why == why_of_drawing; });
  return draws_random_numbers(graph) || any_node(graph.block(), [&](const torch::jit::Node *node) {
           return is_python_call(node) && group->names.contains(plain_name(node));
         });
}

std::string to_string(const std::vector<UnsteadyOperator> &operators) {
  return joined(operators, ", ", [](const auto &unsteady) { return unsteady.name + " (" + unsteady.why + ")"; });
}

} // namespace repro_minify
