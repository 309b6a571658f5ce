// Most backends are a few strings and one function; this spares each the class.
#pragma once
#include "repro_minify/backend.h"

#include <memory>
#include <utility>

namespace repro_minify {

struct BackendDescription {
  std::string name, summary, title;
  std::function<Compiled(torch::jit::Module)> compile;
  BackendSource source;
  bool autocast = false;
  bool needs_several_calls = true;
  bool runs_the_module = false;
  bool needs_eval = false;
  bool needs_flat_graph = false;
};

class SimpleBackend : public Backend {
public:
  explicit SimpleBackend(BackendDescription description) : description_(std::move(description)) {}
  std::string name() const override { return description_.name; }
  std::string summary() const override { return description_.summary; }
  std::string title() const override { return description_.title; }
  Compiled compile(torch::jit::Module module) const override { return description_.compile(std::move(module)); }
  BackendSource source() const override { return description_.source; }
  bool autocast() const override { return description_.autocast; }
  bool needs_several_calls() const override { return description_.needs_several_calls; }
  bool runs_the_module() const override { return description_.runs_the_module; }
  bool needs_eval() const override { return description_.needs_eval; }
  bool needs_flat_graph() const override { return description_.needs_flat_graph; }

private:
  BackendDescription description_;
};

inline std::unique_ptr<Backend> make_simple_backend(BackendDescription description) {
  return std::make_unique<SimpleBackend>(std::move(description));
}

/// Calls `forward` of a module.
inline Compiled call_forward(torch::jit::Module module) {
  return [module = std::move(module)](std::vector<c10::IValue> arguments) mutable {
    return module.forward(std::move(arguments));
  };
}

} // namespace repro_minify
