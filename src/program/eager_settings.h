// Everything of a process that changes what an eager run computes, set in one place. For sandbox children only.
#pragma once
#include <cstdint>
#include <memory>

namespace repro_minify {

struct EagerOptions {
  bool grad = false;
  uint64_t seed = 0;
  bool autocast = false; ///< CPU autocast in bfloat16
  int threads = 1;
};

/// Sets threads, seeds, autograd mode, autocast and the executor (interpreter, nothing optimised) while it lives.
class EagerSettings {
public:
  explicit EagerSettings(const EagerOptions &options);
  ~EagerSettings();
  EagerSettings(const EagerSettings &) = delete;
  EagerSettings &operator=(const EagerSettings &) = delete;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Turns CPU autocast in bfloat16 on or off for the calling thread, with an empty cache.
void set_cpu_autocast(bool on);

} // namespace repro_minify
