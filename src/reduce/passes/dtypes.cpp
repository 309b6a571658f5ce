// Dtypes: float32 where the failure does not need another type, else the plainest that does; dtype arguments in the
// graph follow.
#include "reduce/passes/pass.h"

#include "reduce/passes/edit_constants.h"
#include "reduce/passes/order.h"
#include "reduce/passes/remake_input.h"
#include "repro_minify/record.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>

#include <map>

namespace repro_minify {
namespace {

at::ScalarType dtype_of(const Program &program, size_t input) {
  return program.inputs[input].value.toTensor().scalar_type();
}

/// Returns the edits by which dtype arguments in the graph that name one of `from` name `to` instead.
std::vector<ArgumentEdit> renamed_dtypes(const Program &program, const std::set<at::ScalarType> &from,
                                         at::ScalarType to) {
  std::vector<ArgumentEdit> edits;
  for (const Node *node : all_nodes(*program.graph))
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const auto *argument = argument_of(node, i);
      const auto value = torch::jit::toIValue(node->input(i));
      if (argument && argument->name() == "dtype" && value && value->isInt() &&
          from.count(static_cast<at::ScalarType>(value->toInt())))
        edits.push_back({node, i, static_cast<int64_t>(to)});
    }
  return edits;
}

/// Converts inputs to a dtype, the graph's dtype arguments with them if that fails too, else the inputs alone.
bool accept_dtype(PassContext &context, const std::vector<size_t> &which, at::ScalarType dtype) {
  const auto changed =
      with_inputs(context.current, which, [&](size_t i) { return with_dtype(context.current.inputs[i], dtype); });
  if (!changed)
    return false;
  std::set<at::ScalarType> before;
  for (size_t i : which)
    before.insert(dtype_of(context.current, i));
  std::vector<LazyProgram> candidates;
  if (const auto edits = renamed_dtypes(*changed, before, dtype); !edits.empty())
    candidates.push_back([=] { return with_arguments(*changed, edits); });
  candidates.push_back([changed] { return *changed; });
  return accept_first(context, candidates);
}

/// Returns the dtypes that are plainer: those of the same kind (floating, complex, integral), and float32 for all.
std::vector<at::ScalarType> plainer(at::ScalarType dtype) {
  std::vector<at::ScalarType> types;
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kLong, at::kInt, at::kComplexFloat})
    if (difficulty(type) < difficulty(dtype) &&
        (type == at::kFloat || (at::isFloatingType(type) && at::isFloatingType(dtype)) ||
         (at::isComplexType(type) && at::isComplexType(dtype)) ||
         (at::isIntegralType(type, false) && at::isIntegralType(dtype, true))))
      types.push_back(type);
  return types;
}

bool accept_plainer(PassContext &context, const std::vector<size_t> &which, at::ScalarType dtype) {
  for (const auto type : plainer(dtype))
    if (accept_dtype(context, which, type))
      return true;
  return false;
}

} // namespace

void plain_dtypes(PassContext &context) {
  note_large_inputs(context);
  std::vector<size_t> others;
  std::map<at::ScalarType, std::vector<size_t>> by_dtype;
  for (size_t i = 0; i < context.current.inputs.size(); ++i)
    if (const auto dtype = dtype_of(context.current, i); dtype != at::kFloat) {
      others.push_back(i);
      by_dtype[dtype].push_back(i);
    }
  if (by_dtype.size() > 1 && accept_dtype(context, others, at::kFloat))
    return;
  for (const auto &[dtype, inputs] : by_dtype)
    if (!accept_plainer(context, inputs, dtype) && inputs.size() > 1)
      for (size_t input : inputs)
        accept_plainer(context, {input}, dtype);
}

} // namespace repro_minify
