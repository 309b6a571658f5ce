// The boundary between a Program and what runs it. LibTorch runs TorchScript, in the process that asks: a forked child.
// A call of torch.fx (`fx::tensor` and the like, see fx_call.py) is run by a Python that holds the callables; a backend
// that has one names it here.
#pragma once
#include "repro_minify/sandbox.h"

#include <torch/csrc/jit/api/module.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// Runs forward once: arguments in, result out.
using Forward = std::function<c10::IValue(std::vector<c10::IValue>)>;

/// Runs calls of torch.fx. Its methods are called in children; what they throw is what the call raises.
class PythonExecutor {
public:
  virtual ~PythonExecutor() = default;
  /// Calls one function or method. `call` is JSON as fx_call.py has it. Returns what it gives; what it writes to is
  /// written in the memory of `operands` too, and their version counters say so.
  virtual c10::IValue call(const std::string &call, const std::vector<c10::IValue> &operands) = 0;
  /// Returns what runs the module's forward in eager, with gradients where they are enabled. `double_precision`: dtypes
  /// among the arguments of calls are float64 where they are floating.
  virtual Forward eager(const torch::jit::Module &module, bool double_precision) = 0;
  /// Returns what a child has to be allowed for either.
  virtual Confinement confinement() const = 0;
  /// Called between two checks of a process that is kept: takes back what the last one has changed on the other side.
  /// False where something is left. Throws where the other side does not say.
  virtual bool is_as_before() = 0;
};

/// From now on this process and its children have calls of torch.fx run there; null: nowhere.
void set_python_executor(std::shared_ptr<PythonExecutor> executor);
/// Returns what a child that runs programs has to be allowed.
Confinement confinement_of_running();
/// Returns PythonExecutor::is_as_before(); true where none is set.
bool python_is_as_before();

/// Returns what runs `forward` of the module in eager. Throws UserError where it calls Python and no executor is set.
Forward eager_forward(const torch::jit::Module &module, bool double_precision);

/// Makes the calls of torch.fx known to LibTorch in this process. Called before a model is loaded; later calls do
/// nothing.
void register_python_calls();

} // namespace repro_minify
