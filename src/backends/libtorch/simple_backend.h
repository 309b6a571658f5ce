// Most of LibTorch's own backends are a few strings and one function; this spares each the class.
#pragma once
#include "backends/in_python.h"
#include "backends/libtorch/pass_gate.h"
#include "repro_minify/backend_parts.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <memory>
#include <utility>

namespace repro_minify {

struct BackendDescription {
  std::string name, summary, title;
  std::function<Compiled(torch::jit::Module)> compile;
  BackendSource source;
  std::optional<PythonCall> python = std::nullopt;
  BackendTraits traits = {};
  Pipeline pipeline = {}; ///< what LibTorch runs, its steps; empty: one piece
  /// Steps that LibTorch has a switch for, and what turns it off.
  std::vector<std::pair<std::string, void (*)()>> switches = {};
};

class SimpleBackend : public Backend, public CompilationSteps {
public:
  explicit SimpleBackend(BackendDescription description) : description_(std::move(description)) {}
  std::string name() const override { return description_.name; }
  std::string summary() const override { return description_.summary; }
  std::string title() const override { return description_.title; }
  Compiled compile(torch::jit::Module module) const override { return description_.compile(std::move(module)); }
  BackendSource source() const override { return description_.source; }
  BackendTraits traits() const override {
    BackendTraits traits = description_.traits;
    traits.patience_seconds = 30; // they all compile in this process
    return traits;
  }
  BackendParts parts() const override {
    BackendParts parts;
    parts.steps = this;
    parts.python_call = description_.python ? &*description_.python : nullptr;
    return parts;
  }

  std::vector<std::string> names() const override {
    return passes_can_be_gated() ? step_names(pipeline()) : std::vector<std::string>();
  }
  std::string pass_of(const std::string &step) const override { return function_of_step(pipeline(), step); }
  std::unique_ptr<Backend> with(const std::vector<std::string> &names) const override {
    return changed([pipeline = description_.pipeline, names](const Compile &compile, torch::jit::Module module) {
      // The gate lives as long as the result: the executor compiles on its second call.
      auto gate = std::make_shared<PassGate>(pipeline, names);
      return [gate, compiled = compile(std::move(module))](std::vector<c10::IValue> arguments) {
        return compiled(std::move(arguments));
      };
    });
  }
  std::unique_ptr<Backend> switched_off(const std::string &step) const override {
    for (const auto &[name, switch_off] : description_.switches)
      if (name == step)
        return changed([turn_off = switch_off](const Compile &compile, torch::jit::Module module) {
          turn_off();
          return compile(std::move(module));
        });
    return nullptr;
  }

protected:
  virtual Pipeline pipeline() const { return description_.pipeline; }

private:
  using Compile = std::function<Compiled(torch::jit::Module)>;
  /// The same, but that this is what compiles; it is given what compiled before.
  std::unique_ptr<Backend> changed(std::function<Compiled(const Compile &, torch::jit::Module)> how) const {
    BackendDescription description = description_;
    description.compile = [how = std::move(how), compile = description_.compile](torch::jit::Module module) {
      return how(compile, std::move(module));
    };
    return std::make_unique<SimpleBackend>(std::move(description));
  }

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

/// The same, with the executor told to optimise.
inline Compiled call_optimised(torch::jit::Module module) {
  torch::jit::setGraphExecutorOptimize(true);
  return call_forward(std::move(module));
}

/// Calls `forward` of what `freeze` makes of a module; of the module itself where the step FreezeModule is left out.
inline Compiled call_frozen(torch::jit::Module module, torch::jit::Module (*freeze)(torch::jit::Module &)) {
  if (!step_runs("FreezeModule"))
    return call_forward(std::move(module));
  // Inlining, with which `freeze` starts, is left out when the executor must not optimise.
  torch::jit::setGraphExecutorOptimize(true);
  Compiled compiled = call_forward(freeze(module));
  torch::jit::setGraphExecutorOptimize(false);
  return compiled;
}

} // namespace repro_minify
