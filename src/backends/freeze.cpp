// torch::jit::freeze: parameters become constants, batch norms are folded. The result runs in the plain interpreter, so that
// a failure is freezing's own.
#include "backends/registry.h"
#include "backends/simple_backend.h"

#include <torch/csrc/jit/api/module.h>

namespace repro_minify {

std::unique_ptr<Backend> make_freeze_backend() {
  return make_simple_backend({.name = "freeze",
                              .summary = "torch::jit::freeze (constants in, batch norms folded), run by the plain interpreter",
                              .title = "torch::jit::freeze",
                              .compile = [](torch::jit::Module module) { return call_forward(torch::jit::freeze(module)); },
                              .source = {{},
                                         R"(  torch::jit::Module frozen = torch::jit::freeze(module);
  auto call = [frozen](std::vector<c10::IValue> inputs) mutable { return frozen.forward(std::move(inputs)); };
)"},
                              .needs_several_calls = true});
}

} // namespace repro_minify
