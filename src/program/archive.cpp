#include "repro_minify/archive.h"

#include "program/autocast_blocks.h"
#include "program/device.h"
#include "program/double_precision.h"
#include "program/method_as_forward.h"
#include "program/pickled.h"
#include "program/shared_pages.h"
#include "program/values.h"
#include "repro_minify/run_settings.h"

#include <torch/csrc/jit/serialization/import.h>

#include <sstream>

namespace repro_minify {
namespace {

Instance as_wanted(torch::jit::Module module, const std::vector<c10::IValue> &arguments, bool train,
                   const InstantiateOptions &options) {
  Instance instance{std::move(module), {}};
  redirect_device_constants(instance.module, options.device);
  write_out_casts(instance.module);
  if (!train)
    instance.module.eval();
  for (auto parameter : instance.module.parameters())
    parameter.set_requires_grad(options.requires_grad && parameter.requires_grad());
  if (options.double_precision)
    widen_module(instance.module);
  if (!options.device.is_cpu())
    move_module(instance.module, options.device);
  SharedCloner cloner(
      {.requires_grad = options.requires_grad, .double_precision = options.double_precision, .device = options.device});
  for (const auto &argument : arguments)
    instance.arguments.push_back(cloner.clone(argument));
  return instance;
}

} // namespace

Instance instantiate(const Archive &archive, const InstantiateOptions &options) {
  seed_cpu(archive.seed);
  torch::jit::Module module = torch::jit::load(archive.path, c10::kCPU);
  if (archive.loaded)
    share_pages_with(module, *archive.loaded);
  return as_wanted(with_method_as_forward(module, archive.method), archive.arguments, archive.train, options);
}

Instance instantiate_reloaded(const Program &program, const InstantiateOptions &options) {
  return instantiate_bytes(to_bytes(program), options);
}

std::string to_bytes(const Program &program) {
  const Instance instance = instantiate(program, {.requires_grad = true, .clone_values = false});
  std::ostringstream archive;
  instance.module.save(archive);
  const auto bytes =
      pickled(c10::ivalue::Tuple::create({std::move(archive).str(), c10::ivalue::Tuple::create(instance.arguments)}));
  return {bytes.data(), bytes.size()};
}

Instance instantiate_bytes(std::string_view bytes, const InstantiateOptions &options) {
  const c10::IValue both = unpickled(bytes);
  const auto &parts = both.toTupleRef().elements();
  std::istringstream archive(parts[0].toStringRef());
  return as_wanted(torch::jit::load(archive, c10::kCPU), parts[1].toTupleRef().elements().vec(), /*train=*/false,
                   options);
}

} // namespace repro_minify
