// Everything of a process that changes what a run computes, set in one place.
#pragma once
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <memory>
#include <string>

namespace repro_minify {

/// How to treat operators that need not give the same result twice.
enum class Determinism {
  Off,
  /// The deterministic variant where PyTorch has one, a warning where it has none. cuDNN likewise.
  Warn,
  /// Like Warn, but an operator without a deterministic variant raises: then eager itself fails.
  On,
};
const char *to_string(Determinism determinism);

/// The settings of one run. The eager side and the optimised side of a check get the same.
struct RunSettings {
  c10::Device device = c10::kCPU; ///< where parameters, buffers, inputs and constants are when the program runs
  bool grad = false;              ///< autograd is on, and leaves keep requires_grad
  uint64_t seed = 0;              ///< of every generator: before the model is made and again before each run
  int threads = 1;                ///< intra-op threads (at::set_num_threads)
  bool autocast = false;          ///< run (never compile) under autocast of the device
  at::ScalarType autocast_dtype = at::kBFloat16;
  Determinism determinism = Determinism::Warn;
  bool tf32 = false; ///< TF32 in matrix products and convolutions on CUDA; no effect on the CPU
};

/// Puts RunSettings in force, with the executor set to interpret (nothing optimised), while it lives; then the executor
/// and autocast are as they were before, whatever a backend has switched on meanwhile, and however that ended. For
/// sandbox children only: it may enter OpenMP, and it is where CUDA is first touched.
class RunScope {
public:
  explicit RunScope(const RunSettings &settings);
  ~RunScope();
  RunScope(const RunScope &) = delete;
  RunScope &operator=(const RunScope &) = delete;

  /// Before each run: the generators seeded again, autocast (if the settings ask for it) entered with an empty cache.
  void begin_run() const;
  /// After each run: the device has done all that it was asked for, autocast is left. What the device raises late is
  /// raised here.
  void end_run() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Waits for the device; nothing to do on the CPU. Throws what the device reports.
void synchronize(c10::Device device);

/// Seeds the CPU's generator and touches no other device: for a process that forks.
void seed_cpu(uint64_t seed);

/// Why this LibTorch cannot run on `device` here; empty when it can. Touches the device: call it in a sandbox child.
std::string why_unusable(c10::Device device);

} // namespace repro_minify
