#include "check/check_context.h"

#include "check/bytes_of_tensors.h"
#include "check/compare_runs.h"
#include "check/initial_state.h"
#include "program/executor.h"
#include "program/shared_pages.h"

#include <ATen/ATen.h>

namespace repro_minify {
namespace {

std::size_t bytes_of_module(const torch::jit::Module &module) {
  return bytes_of_tensors(module.parameters()) + bytes_of_tensors(module.buffers());
}

} // namespace

RunOptions CheckContext::run_options() const {
  return {.grad = options.grad,
          .state = !options.only_forward && options.mode == CheckMode::Accuracy,
          .module = everything || backend.traits().runs_the_module,
          .boxed = !everything && backend.traits().boxed_call,
          .parameter_gradients = backend.traits().gradients == Gradients::All,
          .operators = true};
}

InstantiateOptions CheckContext::instance_options(bool double_precision) const {
  return {.requires_grad = options.grad, .double_precision = double_precision, .device = options.device};
}

bool CheckContext::compare(Observed &ref, Observed &res, Observed *fp64, const CompareOptions &how,
                           Verdict &verdict) const {
  const auto fresh = [&] { return factory(instance_options()); };
  complete_state(ref, res, fp64, fresh, run_options().module);
  return compare_runs(ref, res, fp64, how, verdict);
}

std::vector<Observed> CheckContext::run_eager(int calls, const std::vector<Observed> *like, Fill fill) const {
  RunSettings settings = run_settings(backend, options);
  if (like)
    settings.autocast = false; // a reference that autocast rounds to bfloat16 is none
  const RunScope scope(settings);
  std::vector<Observed> runs;
  std::size_t bytes = 0;
  {
    Instance instance = factory(instance_options(/*double_precision=*/like != nullptr));
    bytes = bytes_of_module(instance.module);
    RunOptions how = run_options();
    const auto before = how.state && !like ? std::make_shared<const InitialState>(instance, how.module) : nullptr;
    const Forward forward = eager_forward(instance.module, /*double_precision=*/like != nullptr);
    for (int call = 0; call < calls; ++call, fill = other(fill)) {
      fill_unwritten_memory(fill);
      how.unchanged = [&](std::size_t place, const c10::IValue &value) {
        return like ? !like->at(static_cast<std::size_t>(call)).unchanged.at(place).empty()
                    : before->still_holds(place, value);
      };
      scope.begin_run();
      runs.push_back(run_program(forward, instance, how));
      scope.end_run();
    }
  }
  give_memory_back(bytes);
  return runs;
}

} // namespace repro_minify
