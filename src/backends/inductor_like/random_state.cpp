#include "backends/inductor_like/random_state.h"

#include "program/values.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>

namespace repro_minify::inductor_like {

KeepRandomState::KeepRandomState(const std::vector<c10::IValue> &inputs) {
  std::vector<at::Generator> generators = {at::detail::getDefaultCPUGenerator()};
  std::vector<c10::Device> devices;
  for (const auto &input : inputs)
    for_each_tensor(input, [&](const at::Tensor &tensor) {
      if (tensor.is_cuda() && std::find(devices.begin(), devices.end(), tensor.device()) == devices.end())
        devices.push_back(tensor.device());
    });
  for (const c10::Device device : devices)
    generators.push_back(at::globalContext().defaultGenerator(device));
  for (const auto &generator : generators)
    states_.emplace_back(generator, generator.get_state());
}

KeepRandomState::~KeepRandomState() {
  for (auto &[generator, state] : states_)
    generator.set_state(state);
}

} // namespace repro_minify::inductor_like
