// The interpreter again, nothing optimised: a backend that agrees with eager by construction. For trying out the tool,
// and for finding a check that cannot be trusted.
#include "backends/backend_registry.h"
#include "backends/libtorch/simple_backend.h"

namespace repro_minify {

std::unique_ptr<Backend> make_eager_backend(const BackendOptions &) {
  const char *const call =
      R"(  auto call = [module](std::vector<c10::IValue> inputs) mutable { return module.forward(std::move(inputs)); };
)";
  return make_simple_backend({.name = "eager",
                              .summary = "the TorchScript interpreter without optimisation, against itself",
                              .title = "the unoptimised interpreter",
                              .compile = call_forward,
                              .source = {{}, call},
                              .traits = {.runs_the_module = true}});
}

} // namespace repro_minify
