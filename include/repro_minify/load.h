// Reads what the user gives: a TorchScript archive and inputs for it. Every way it can be wrong ends in a UserError of
// one sentence.
#pragma once
#include "repro_minify/program.h"
#include "repro_minify/sandbox.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct LoadedModel {
  std::string path;
  torch::jit::Module module;
  std::string method;
};

/// Loads the archive with the generators seeded (loading can draw random numbers). `train` keeps training mode.
/// Everything is on the CPU, device constants name `device` (see redirect_device_constants). A child under `limits`
/// does it all first, and a model that does not get through that is refused.
LoadedModel load_model(const std::string &path, const std::string &method, uint64_t seed, bool train,
                       c10::Device device = c10::kCPU, const Limits &limits = generous_limits());

/// Where inputs come from; the first that is given counts: specs, inputs_path, bundled inputs, those that a reduced.pt
/// was written with, an inputs.pt beside the model.
struct InputSource {
  std::vector<std::string> specs;         ///< --input, one for each argument
  std::optional<std::string> inputs_path; ///< --inputs
  uint64_t seed = 0;
  bool requires_grad = false; ///< inputs made from a spec require grad where they can
};

struct LoadedInputs {
  std::vector<c10::IValue> values; ///< one for each argument of the method, of its type
  std::string origin;              ///< "inputs.pt beside the model", for the report
  std::string note = {};           ///< a warning about them for the user; empty: none
};
LoadedInputs load_inputs(const LoadedModel &model, const InputSource &source, const Limits &limits = generous_limits());

} // namespace repro_minify
