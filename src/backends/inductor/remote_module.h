// A module that runs in the worker's child as if it ran here.
#pragma once
#include "backends/inductor/inductor_wire.h"
#include "backends/inductor/inductor_worker.h"
#include "core/json.h"
#include "program/executor.h"

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Returns the module's archive, which the worker loads. It gets no path: neither process may read the other's files.
at::Tensor saved_bytes(const torch::jit::Module &module);

/// The words in which a request asks for the modes that the check has set for this process.
json settings_here(c10::DeviceType device);
/// The words in which a request says what its child may use, and where its generators begin.
json means_here();
/// Returns the device type of the first tensor among them; none: nothing.
std::optional<c10::DeviceType> device_among(const std::vector<c10::IValue> &values);
/// Writes to the storages of `sent` what the other side has written to its own, and to the views of `operands` their
/// new shapes.
void bring_back_writes(const json &answer, const std::vector<at::Tensor> &blobs, const WireWriter &sent,
                       const std::vector<c10::IValue> &operands);

/// A module in the worker's child, and the one here that it was made from.
class RemoteModule : public std::enable_shared_from_this<RemoteModule> {
public:
  /// How a module runs in the worker's child.
  enum class How {
    Compiled,
    Eager,          ///< its operators and calls one by one
    EagerInFloat64, ///< likewise, with floating dtypes among the arguments of its calls widened
  };
  /// Compiles it there, in the child that serves this process. `bisection`: what PyTorch's bisector leaves out; null:
  /// nothing. `entries`: beside those of the worker. Throws as InductorConnection::ask().
  RemoteModule(const std::string &address, torch::jit::Module module, const json &bisection,
               const std::vector<std::string> &entries, How how = How::Compiled);
  ~RemoteModule(); ///< gives its data up there
  RemoteModule(const RemoteModule &) = delete;
  RemoteModule &operator=(const RemoteModule &) = delete;

  /// Returns what the compiled module returns, connected to the gradients there; what it writes to, its arguments,
  /// parameters and buffers, is written here too. CannotCompile for an answer that cannot be read.
  c10::IValue run(const std::vector<c10::IValue> &arguments);
  /// Returns the gradients of the leaves of the last run.
  std::vector<at::Tensor> backward(const std::vector<at::Tensor> &gradients);

private:
  c10::DeviceType device_of(const std::vector<c10::IValue> &arguments) const;
  void bring_back_module(const json &answer, WireReader &reader);
  void connect_gradients(const c10::IValue &output, const json &words, const std::vector<c10::IValue> &arguments);

  const std::shared_ptr<InductorConnection> connection_;
  json program_; ///< its number there
  torch::jit::Module module_;
  json settings_;
};

// Calls of torch.fx, run by the Python worker of the `inductor` backend.

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
