// Real models for tests.
#pragma once
#include "program/cut.h"
#include "program/flat_graph.h"
#include "repro_minify/load.h"
#include "test_paths.h"

#include <ATen/Parallel.h>

#include <string>

namespace repro_minify::testing_support {

/// Sets one thread, as the program does: a process that forks must never have entered an OpenMP region.
inline const bool serial = (at::set_num_threads(1), true);

struct LoadedCase {
  LoadedModel model;
  LoadedInputs inputs;
};

inline LoadedCase load_case(const std::string &name) {
  const std::string folder = std::string(test_paths::fixtures) + "/cases/" + name;
  LoadedCase loaded{load_model(folder + "/failing.pt", "forward", 0, false), {}};
  loaded.inputs = load_inputs(loaded.model, {});
  return loaded;
}

inline Limits test_limits() {
  Limits limits;
  limits.timeout = std::chrono::minutes(2);
  return limits;
}

} // namespace repro_minify::testing_support
