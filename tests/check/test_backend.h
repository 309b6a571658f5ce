// A backend that does what a test wants.
#pragma once
#include "repro_minify/backend.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace repro_minify::testing_support {

class TestBackend final : public Backend {
public:
  using Compile = std::function<Compiled(torch::jit::Module)>;
  TestBackend(Compile compile, const BackendTraits &traits) : compile_(std::move(compile)), traits_(traits) {}
  std::string name() const override { return "test"; }
  std::string summary() const override { return ""; }
  std::string title() const override { return "a test"; }
  BackendTraits traits() const override { return traits_; }
  Compiled compile(torch::jit::Module module) const override { return compile_(std::move(module)); }
  BackendSource source() const override { return {}; }

private:
  const Compile compile_;
  const BackendTraits traits_;
};

inline std::shared_ptr<const Backend> backend_that(TestBackend::Compile compile, const BackendTraits &traits = {}) {
  return std::make_shared<TestBackend>(std::move(compile), traits);
}

} // namespace repro_minify::testing_support
