#include "program/archive.h"

#include "program/device.h"
#include "program/double_precision.h"
#include "program/run_settings.h"
#include "program/values.h"

#include <torch/csrc/jit/serialization/import.h>

namespace repro_minify {

Instance instantiate(const Archive &archive, const InstantiateOptions &options) {
  seed_cpu(archive.seed);
  Instance instance{torch::jit::load(archive.path, c10::kCPU), {}};
  redirect_device_constants(instance.module, options.device);
  if (!archive.train)
    instance.module.eval();
  for (auto parameter : instance.module.parameters())
    parameter.set_requires_grad(options.requires_grad && parameter.requires_grad());
  if (options.double_precision)
    widen_module(instance.module);
  if (!options.device.is_cpu())
    move_module(instance.module, options.device);
  SharedCloner cloner(
      {.requires_grad = options.requires_grad, .double_precision = options.double_precision, .device = options.device});
  for (const auto &argument : archive.arguments)
    instance.arguments.push_back(cloner.clone(argument));
  return instance;
}

} // namespace repro_minify
