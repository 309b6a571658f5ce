// Calls of torch.fx, run by the Python worker of the `inductor` backend.
#pragma once
#include "backends/inductor/remote_module.h"
#include "program/executor.h"

#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

class RemoteExecutor final : public PythonExecutor {
public:
  /// `address` is the worker's, and `confinement` what a child needs to reach it.
  RemoteExecutor(std::string address, Confinement confinement)
      : address_(std::move(address)), confinement_(std::move(confinement)) {}

  c10::IValue call(const std::string &call, const std::vector<c10::IValue> &operands) override;
  Forward eager(const torch::jit::Module &module, bool double_precision) override;
  Confinement confinement() const override { return confinement_; }
  bool is_as_before() override;

private:
  InductorConnection &connection(const std::vector<c10::IValue> &operands);

  const std::string address_;
  const Confinement confinement_;
  std::unique_ptr<InductorConnection> connection_; ///< of this process, from its first call on
};

} // namespace repro_minify
