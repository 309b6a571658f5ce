#include "program/eager_settings.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/AutogradState.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

namespace repro_minify {

struct EagerSettings::State {
  at::AutoGradMode grad;
  bool autocast;
};

void set_cpu_autocast(bool on) {
  at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, on);
}

EagerSettings::EagerSettings(const EagerOptions &options)
    : state_(new State{at::AutoGradMode(options.grad), options.autocast}) {
  at::set_num_threads(options.threads);
  at::manual_seed(options.seed);
  torch::jit::setGraphExecutorOptimize(false);
  set_cpu_autocast(options.autocast);
}

EagerSettings::~EagerSettings() {
  if (state_->autocast)
    set_cpu_autocast(false);
}

} // namespace repro_minify
