#include "repro_minify/run_settings.h"

#include "program/graph.h"
#include "program/operator_libraries.h"
#include "tasks/gpu_devices.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/AutogradState.h>
#include <c10/util/Exception.h>
#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/tensorexpr/kernel.h>

#include <cstdlib>

namespace repro_minify {
namespace {

/// Uninitialised memory stays what it is: filling it, which PyTorch does by default in deterministic mode, would hide
/// the failures of backends that read it.
void apply(Determinism determinism, c10::Device device) {
  auto &context = at::globalContext();
  const bool on = determinism != Determinism::Off;
  context.setDeterministicAlgorithms(on, /*warn_only=*/determinism != Determinism::On);
  context.setDeterministicFillUninitializedMemory(false);
  context.setDeterministicCuDNN(on);
  context.setBenchmarkCuDNN(false);
  // cuBLAS reads it when its handle is made, the first time that a child touches CUDA.
  if (on && device.is_cuda())
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
}

/// Puts back what the backends switch on in the executor, and autocast, when it is destroyed: what comes next would be
/// run differently, and an exception must not leave the one side's settings to the other.
class ExecutorState {
public:
  explicit ExecutorState(c10::DeviceType device) : device_(device) {}
  ~ExecutorState() { restore(); }
  void restore() const {
    at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(device_, autocast_dtype_);
    at::autocast::set_autocast_enabled(device_, autocast_);
    jit::setAutocastMode(jit_autocast_);
    jit::setGraphExecutorOptimize(optimises_);
    jit::getProfilingMode() = profiles_;
    jit::getExecutorMode() = executor_;
    jit::setTensorExprFuserEnabled(fuses_);
    jit::overrideCanFuseOnCPU(fuses_on_cpu_);
    jit::tensorexpr::getTEMustUseLLVMOnCPU() = needs_llvm_;
  }
  ExecutorState(const ExecutorState &) = delete;
  ExecutorState &operator=(const ExecutorState &) = delete;

private:
  const c10::DeviceType device_;
  const at::ScalarType autocast_dtype_ = at::autocast::get_autocast_dtype(device_);
  const bool autocast_ = at::autocast::is_autocast_enabled(device_);
  const bool jit_autocast_ = jit::autocastEnabled();
  const bool optimises_ = jit::getGraphExecutorOptimize();
  const bool profiles_ = jit::getProfilingMode();
  const bool executor_ = jit::getExecutorMode();
  const bool fuses_ = jit::tensorExprFuserEnabled();
  const bool fuses_on_cpu_ = jit::canFuseOnCPU();
  const bool needs_llvm_ = jit::tensorexpr::getTEMustUseLLVMOnCPU();
};

void set_autocast(const RunSettings &settings, bool on) {
  at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(settings.device.type(), settings.autocast_dtype);
  at::autocast::set_autocast_enabled(settings.device.type(), on);
}

struct FirstWarning : c10::WarningHandler {
  std::string text;
  void process(const c10::Warning &warning) override {
    if (text.empty())
      text = warning.msg();
  }
};

/// The state before any scope was entered; null outside of all.
const ExecutorState *outside_of_all = nullptr;

} // namespace

const char *to_string(Determinism determinism) {
  constexpr const char *names[] = {"off", "warn", "on"};
  return names[static_cast<int>(determinism)];
}

struct RunScope::State {
  RunSettings settings;
  ExecutorState before; ///< is put back last
  at::AutoGradMode grad;
};

RunScope::RunScope(const RunSettings &settings)
    : state_(new State{settings, ExecutorState(settings.device.type()), at::AutoGradMode(settings.grad)}) {
  if (outside_of_all)
    outside_of_all->restore(); // eager in the middle of an optimised run
  else
    outside_of_all = &state_->before;
  at::set_num_threads(settings.threads);
  apply(settings.determinism, settings.device);
  if (settings.device.is_cuda()) {
    at::globalContext().setAllowTF32CuBLAS(settings.tf32);
    at::globalContext().setAllowTF32CuDNN(settings.tf32);
  }
  torch::jit::setGraphExecutorOptimize(false);
  at::manual_seed(settings.seed);
}

RunScope::~RunScope() {
  if (outside_of_all == &state_->before)
    outside_of_all = nullptr;
}

void RunScope::begin_run() const {
  at::manual_seed(state_->settings.seed);
  at::GradMode::set_enabled(state_->settings.grad); // half of a `no_grad` block may have run before
  if (state_->settings.autocast)
    set_autocast(state_->settings, true);
}

void RunScope::end_run() const {
  if (state_->settings.autocast)
    set_autocast(state_->settings, false);
  synchronize(state_->settings.device);
}

void synchronize(c10::Device device) {
  if (device.is_cuda())
    at::detail::getCUDAHooks().deviceSynchronize(device.has_index() ? device.index() : c10::DeviceIndex{0});
}

void seed_cpu(uint64_t seed) {
  auto generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

std::string why_unusable(c10::Device device) {
  if (!device.is_cuda())
    return "";
  FirstWarning warning; // LibTorch does not throw where the driver gives an error, but warns
  const c10::WarningUtils::WarningHandlerGuard guard(&warning);
  if (const std::string problem = load_cuda_library(); !problem.empty())
    return "the CUDA part of this LibTorch cannot be loaded: " + problem;
  const auto &hooks = at::detail::getCUDAHooks();
  if (!hooks.hasCUDART())
    return "this LibTorch was built without CUDA";
  if (!hooks.hasCUDA() || hooks.getNumGPUs() == 0) {
    const std::string &files = gpu_devices_here().problem;
    return "no CUDA device is visible (nvidia-smi should list one)" + (files.empty() ? "" : "; " + files) +
           (warning.text.empty() ? "" : "; LibTorch says: " + warning.text);
  }
  if (device.has_index() && device.index() >= hooks.getNumGPUs())
    return "there are only " + std::to_string(hooks.getNumGPUs()) + " CUDA devices, counted from 0";
  return "";
}

} // namespace repro_minify
