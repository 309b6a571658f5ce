// Outputs: return fewer values. Many are dropped by halves; of a few, only one is tried, then all but one.
#include "reduce/passes/pass.h"

#include <algorithm>

namespace repro_minify {
namespace {

/// Above it dropping one output at a time takes more checks than halves do.
constexpr size_t few = 4;

size_t count_outputs(const Program &program) {
  return program.graph->outputs().size();
}

Program with_outputs(const Program &program, const std::vector<size_t> &kept) {
  Program result = copy_of(program);
  std::vector<Value *> outputs;
  for (size_t i : kept)
    outputs.push_back(result.graph->outputs()[i]);
  result.graph->block()->removeAllOutputs();
  for (auto *output : outputs)
    result.graph->registerOutput(output);
  drop_unused(result);
  return result;
}

Program without_outputs(const Program &program, const std::vector<size_t> &dropped) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < count_outputs(program); ++i)
    if (!std::binary_search(dropped.begin(), dropped.end(), i))
      kept.push_back(i);
  return with_outputs(program, kept);
}

/// The outputs, those first that the last Check found wrong.
std::vector<size_t> wrong_ones_first(const EngineContext &context) {
  std::vector<size_t> order(count_outputs(context.current));
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (const auto &leaves = context.verdict.outputs; leaves.size() == order.size())
    std::stable_partition(order.begin(), order.end(), [&](size_t i) { return !leaves[i].same; });
  return order;
}

/// True if the failure may show where nothing is returned: an exception, or what an input or a buffer holds afterwards.
bool shows_without_outputs(const Signature &wanted) {
  return wanted.where != "output" && wanted.where != "gradient";
}

/// One suspect alone, then as many dropped as can be.
void drop_many(EngineContext &context) {
  const Program start = context.current;
  const size_t suspect = wrong_ones_first(context).front();
  const bool hinted = context.verdict.outputs.size() == count_outputs(start) && !context.verdict.outputs[suspect].same;
  if (hinted && context.try_candidate(with_outputs(start, {suspect})))
    return;
  accept_in_bulk(
      context, count_outputs(start),
      [&](const std::vector<size_t> &dropped) { return without_outputs(start, dropped); },
      /*all_at_once=*/shows_without_outputs(context.services.wanted()));
}

bool drop_few(EngineContext &context) {
  const size_t count = count_outputs(context.current);
  std::vector<LazyProgram> candidates;
  if (shows_without_outputs(context.services.wanted()))
    candidates.push_back([&] { return with_outputs(context.current, {}); });
  if (count > 1)
    for (size_t only : wrong_ones_first(context))
      candidates.push_back([&context, only] { return with_outputs(context.current, {only}); });
  if (count > 2)
    for (size_t dropped = 0; dropped < count; ++dropped)
      candidates.push_back([&context, dropped] { return without_outputs(context.current, {dropped}); });
  return accept_first(context, candidates);
}

} // namespace

void drop_outputs(EngineContext &context) {
  if (count_outputs(context.current) > few)
    drop_many(context);
  while (count_outputs(context.current) > 0 && count_outputs(context.current) <= few && drop_few(context)) {
  }
}

} // namespace repro_minify
