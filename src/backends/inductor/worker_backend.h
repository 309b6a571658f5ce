// The base of backends that compile in the Python worker: what they share, whatever the worker's children compile with.
#pragma once
#include "backends/in_python.h"
#include "backends/inductor/inductor_worker.h"
#include "core/json.h"
#include "repro_minify/backend_parts.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Returns the entries, and one for each --backend-option.
std::vector<std::string> with_backend_options(std::vector<std::string> entries, const BackendOptions &options);

class WorkerBackend : public Backend, public Preparation, public Surroundings, public ReproInPython {
public:
  std::string name() const override { return name_; }

  std::string unusable_because() const override;
  void start() const override;
  void await_start() const override;
  void revive() const override;
  Identity identity() const override;
  /// It asks the worker, which is confined itself; a repro runs in Python.
  Confinement confinement() const override;
  Compiled compile(torch::jit::Module module) const override;

  const std::string &python() const override { return python_; }
  const std::string &torch_version() const override { return torch_version_; }
  std::vector<PythonProgram> python_programs(const Program &program, const json &facts) const override;
  json explanation(const Program &program, const json &facts) const override;

  BackendSource source() const override { return {}; }
  BackendTraits traits() const override;
  BackendParts parts() const override;

protected:
  /// `entries` are KEY=VALUE for the worker, before those that the options give to all of them.
  WorkerBackend(std::string name, const BackendOptions &options, std::vector<std::string> entries);

  /// The worker's answer about the program: {"do": what}.
  InductorMessage ask_about(const char *what, const Program &program, const json &facts) const;
  const std::string &address() const { return worker_->address(); }
  /// Returns what the worker has said of its recipe; null before it has started, and without one.
  const json &recipe() const { return recipe_; }

  std::vector<std::string> entries_of_checks_; ///< beside those that the worker was started with
  json bisection_;                             ///< what PyTorch's bisector leaves out; null: nothing

private:
  std::string name_;
  BackendOptions options_;
  std::vector<std::string> entries_; ///< and what has to be loaded before anything is compiled
  mutable std::string python_, python_version_, torch_version_;
  mutable std::optional<PythonCall> python_call_; ///< once it has started
  mutable json recipe_;
  mutable std::shared_ptr<InductorWorker> worker_;
};

} // namespace repro_minify
