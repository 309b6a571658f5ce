// Outputs: return fewer values. First only one of them, then all but one.
#include "reduce/passes/pass.h"

namespace repro_minify {
namespace {

Program with_outputs(const Program &program, const std::vector<size_t> &kept) {
  Program result = copy_of(program);
  std::vector<torch::jit::Value *> outputs;
  for (size_t i : kept)
    outputs.push_back(result.graph->outputs()[i]);
  while (!result.graph->outputs().empty())
    result.graph->eraseOutput(0);
  for (auto *output : outputs)
    result.graph->registerOutput(output);
  drop_unused(result);
  return result;
}

} // namespace

bool drop_outputs(PassContext &context) {
  bool any = false;
  for (bool accepted = true; accepted;) {
    const size_t count = context.current.graph->outputs().size();
    std::vector<Judge::LazyProgram> candidates;
    if (count == 0)
      return any;
    if (context.judge.wanted().where.empty())
      candidates.push_back([&] { return with_outputs(context.current, {}); });
    if (count > 1)
      for (size_t only = 0; only < count; ++only)
        candidates.push_back([&context, only] { return with_outputs(context.current, {only}); });
    if (count > 2)
      for (size_t dropped = 0; dropped < count; ++dropped)
        candidates.push_back([&context, dropped, count] {
          std::vector<size_t> kept;
          for (size_t i = 0; i < count; ++i)
            if (i != dropped)
              kept.push_back(i);
          return with_outputs(context.current, kept);
        });
    accepted = accept_first(context, candidates);
    any |= accepted;
  }
  return any;
}

} // namespace repro_minify
