#include "backends/in_python.h"

#include <utility>

namespace repro_minify {

PythonCall scripted_call(std::vector<std::string> settings) {
  PythonCall call;
  call.settings = std::move(settings);
  call.optimised = "torch.jit.script(model)";
  return call;
}

PythonCall frozen_call(const std::string &function) {
  PythonCall call;
  call.optimised = function + "(torch.jit.script(model))";
  call.needs_module = call.plain_interpreter = true;
  return call;
}

} // namespace repro_minify
