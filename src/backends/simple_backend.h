// Most backends are a few strings and one function; this spares each the class.
#pragma once
#include "backends/own_switches.h"
#include "backends/pass_gate.h"
#include "backends/python_backend.h"
#include "repro_minify/backend.h"

#include <memory>
#include <utility>

namespace repro_minify {

struct BackendDescription {
  std::string name, summary, title;
  std::function<Compiled(torch::jit::Module)> compile;
  BackendSource source;
  std::optional<PythonCall> python = std::nullopt;
  bool autocast = false;
  bool needs_several_calls = true;
  bool runs_the_module = false;
  Gradients gradients = Gradients::All;
  bool needs_eval = false;
  bool needs_flat_graph = false;
  Pipeline pipeline = {}; ///< what LibTorch runs, its steps; empty: one piece
  /// Steps that LibTorch has a switch for, and what turns it off.
  std::vector<std::pair<std::string, void (*)()>> switches = {};
};

class SimpleBackend : public Backend, public OwnSwitches, public CalledFromPython {
public:
  explicit SimpleBackend(BackendDescription description) : description_(std::move(description)) {}
  std::string name() const override { return description_.name; }
  std::string summary() const override { return description_.summary; }
  std::string title() const override { return description_.title; }
  Compiled compile(torch::jit::Module module) const override { return description_.compile(std::move(module)); }
  BackendSource source() const override { return description_.source; }
  std::optional<PythonCall> python_call() const override { return description_.python; }
  std::vector<std::string> steps() const override {
    return passes_can_be_gated() ? step_names(description_.pipeline) : std::vector<std::string>();
  }
  std::unique_ptr<Backend> with_steps(const std::vector<std::string> &names) const override {
    if (steps().empty())
      return nullptr;
    BackendDescription fewer = description_;
    fewer.compile = [compile = description_.compile, pipeline = description_.pipeline,
                     names](torch::jit::Module module) -> Compiled {
      // As long as the result lives: the executor compiles on its second call.
      auto gate = std::make_shared<PassGate>(pipeline, names);
      return [gate, compiled = compile(std::move(module))](std::vector<c10::IValue> arguments) {
        return compiled(std::move(arguments));
      };
    };
    return std::make_unique<SimpleBackend>(std::move(fewer));
  }
  bool autocast() const override { return description_.autocast; }
  bool needs_several_calls() const override { return description_.needs_several_calls; }
  bool runs_the_module() const override { return description_.runs_the_module; }
  Gradients gradients() const override { return description_.gradients; }
  double patience_seconds() const override { return 15; } // they all compile in this process
  bool needs_eval() const override { return description_.needs_eval; }
  bool needs_flat_graph() const override { return description_.needs_flat_graph; }

  std::unique_ptr<Backend> switched_off(const std::string &step) const override {
    for (const auto &[name, switch_off] : description_.switches)
      if (name == step) {
        BackendDescription without = description_;
        without.compile = [compile = description_.compile, turn_off = switch_off](torch::jit::Module module) {
          turn_off();
          return compile(std::move(module));
        };
        return std::make_unique<SimpleBackend>(std::move(without));
      }
    return nullptr;
  }

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
