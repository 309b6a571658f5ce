#include "reduce/passes/pass.h"

#include <algorithm>
#include <cstddef>

namespace repro_minify {
namespace {

const std::vector<ReductionPass> registry = {
    {"cut",
     "remove nodes; what they made comes back as an input with the recorded value",
     Goal::Size,
     cut_nodes,
     {0.15, 0.3}},
    {"copies", "remove clone, contiguous, detach and dropout, all at once", Goal::Size, drop_copies},
    {"inputs", "use one input for two", Goal::Size, merge_inputs, {0.85, 0.85}},
    {"outputs", "return fewer values", Goal::Size, drop_outputs, {0.15, 0.3}},
    {"splice",
     "remove nodes and read something earlier of the same shape instead",
     Goal::Size,
     splice_nodes,
     {0.05, 0.2}},
    {"branches", "the branch that was taken instead of a prim::If", Goal::Size, straighten_branches},
    {"loops", "one iteration instead of a prim::Loop", Goal::Size, straighten_loops, {0.1, 0.2}},
    {"bodies",
     "the calls of a graph instead of what runs it: a branch of torch.cond, one turn of a loop, what is checkpointed",
     Goal::Size, inline_bodies},
    {"duplicates", "use one node for two that do the same", Goal::Size, merge_duplicates, {0.8, 0.5}},
    {"packing",
     "read the parts of a tuple, list or dict, and what a cast leaves as it is, directly",
     Goal::Size,
     remove_packing,
     {0.5, 0.3}},
    {"plain-values",
     "zeros, ones, one number, a seeded randn instead of recorded data",
     Goal::Simplicity,
     plain_values,
     {0.6, 0.4}},
    {"trips", "fewer iterations of a prim::Loop", Goal::Simplicity, lower_trip_counts, {0.15, 0.1}},
    {"arguments",
     "operators' defaults, None, and simple numbers in the graph",
     Goal::Simplicity,
     plain_arguments,
     {0.25, 0.3}},
    {"calls",
     "calls of Python with fewer arguments, and shorter lists and slices among them",
     Goal::Simplicity,
     shorten_calls,
     {0.25, 0.3}},
    {"strides", "contiguous inputs, each in memory of its own", Goal::Simplicity, plain_strides},
    {"sizes",
     "smaller inputs; dimensions that have to agree shrink together",
     Goal::Simplicity,
     shrink_sizes,
     {0.8, 0.2}},
    {"dtypes",
     "float32 inputs where the failure does not need another type",
     Goal::Simplicity,
     plain_dtypes,
     {0.1, 0.1}},
    {"autograd", "inputs that need no gradient", Goal::Simplicity, drop_autograd, {0.05, 0.6}},
    {"short-values", "recorded data to few digits, or to its extremes", Goal::Simplicity, short_values},
    {"dimensions", "inputs of fewer dimensions", Goal::Simplicity, drop_dimensions, {0.4, 0.15}},
    {"roles",
     "arguments instead of parameters, buffers and tensor constants",
     Goal::Simplicity,
     plain_roles,
     {0.2, 0.1}},
    {"constants", "a tensor constant, or a torch.full, instead of what is made from constants and weights", Goal::Size,
     fold_constants},
};

} // namespace

const std::vector<ReductionPass> &reduction_passes() {
  return registry;
}

bool accept_first(PassContext &context, const std::vector<LazyProgram> &candidates) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const auto &candidate) { return context.try_candidate(candidate()); });
}

std::vector<size_t> inputs_where(const Program &program, const std::function<bool(const ProgramInput &)> &condition) {
  std::vector<size_t> which;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (condition(program.inputs[i]))
      which.push_back(i);
  return which;
}

Program copy_of(const Program &program) {
  Program copy = program;
  copy.graph = program.graph->copy();
  return copy;
}

bool accept_in_bulk(PassContext &context, size_t count, const WithEdits &with, bool all_at_once) {
  std::vector<size_t> accepted;
  // Ranges come in ascending order.
  const std::function<void(size_t, size_t, bool)> try_range = [&](size_t begin, size_t end, bool as_a_whole) {
    std::vector<size_t> edits = accepted;
    for (size_t i = begin; i < end; ++i)
      edits.push_back(i);
    if (as_a_whole && begin < end && context.try_candidate(with(edits))) {
      accepted = edits;
      return;
    }
    if (end - begin < 2)
      return;
    const size_t middle = begin + (end - begin) / 2;
    try_range(begin, middle, true);
    try_range(middle, end, true);
  };
  try_range(0, count, all_at_once);
  return !accepted.empty();
}

} // namespace repro_minify
