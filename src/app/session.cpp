#include "app/session.h"

#include "program/values.h"
#include "support/log.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>

namespace repro_minify {
namespace {

/// The archive itself, loaded afresh each time: a backend may have changed constants in place.
Subject archive_subject(const std::string &path, const std::vector<c10::IValue> &arguments, uint64_t seed, bool train) {
  return [=](const InstantiateOptions &options) {
    at::manual_seed(seed); // loading can draw random numbers
    Instance instance{torch::jit::load(path), {}};
    if (!train)
      instance.module.eval();
    for (auto parameter : instance.module.parameters())
      parameter.set_requires_grad(options.requires_grad && parameter.requires_grad());
    if (options.double_precision) {
      at::NoGradGuard no_grad;
      const auto widen = [](at::Tensor tensor) {
        if (tensor.is_floating_point() || tensor.is_complex())
          tensor.set_data(tensor.to(tensor.is_complex() ? at::kComplexDouble : at::kDouble));
      };
      for (const auto &parameter : instance.module.parameters())
        widen(parameter);
      for (const auto &buffer : instance.module.buffers())
        widen(buffer);
    }
    SharedCloner cloner({.requires_grad = options.requires_grad, .double_precision = options.double_precision});
    for (const auto &argument : arguments)
      instance.arguments.push_back(cloner.clone(argument));
    return instance;
  };
}

} // namespace

Session::Session(const Options &given)
    : options(given), model(load_model(given.model, given.method, given.seed, given.train)),
      backend(make_backend(given.backend)), check(check_options(given)) {
  inputs = load_inputs(
      model,
      {.specs = given.input_specs, .inputs_path = given.inputs, .seed = given.seed, .requires_grad = given.grad});
}

Verdict Session::check_original() {
  Limits limits;
  // Nothing is known yet of how long a run takes; a hang has to end some time.
  limits.timeout = std::chrono::milliseconds(
      options.timeout_seconds > 0 ? static_cast<int64_t>(options.timeout_seconds * 1000) : 120000);
  limits.memory_bytes = options.memory_bytes;
  Subject subject;
  if (model.method == "forward")
    subject = archive_subject(model.path, inputs.values, options.seed, options.train);
  else
    subject = subject_of(std::make_shared<Program>(flatten_calls(model, inputs.values)));
  const Verdict verdict = repro_minify::check(subject, backend, check, limits);
  original_seconds_ = verdict.wall_seconds;
  return verdict;
}

Limits Session::limits() const {
  Limits limits;
  const double seconds = options.timeout_seconds > 0 ? options.timeout_seconds : std::max(10.0, 10 * original_seconds_);
  limits.timeout = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  limits.memory_bytes = options.memory_bytes;
  return limits;
}

RecordOptions Session::record_options() const {
  return {.grad = check.grad, .seed = check.seed, .autocast = backend->autocast(), .threads = check.threads};
}

} // namespace repro_minify
