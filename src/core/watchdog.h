// Ends a process that has been asked to stop and takes no notice.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include <pthread.h>
#include <semaphore.h>

namespace repro_minify {

/// How long the thread that is watched may do without a sign of life once it has been asked to stop. Until the first
/// one the clock decides, as the user waits; one that has noticed finishes what it writes, so it has its own time on a
/// processor, to which a busy machine makes no difference, and the clock only where it waits for what never comes.
struct WatchdogPatience {
  std::chrono::milliseconds computing = std::chrono::seconds(1);
  std::chrono::milliseconds waiting = std::chrono::seconds(10);
  std::chrono::milliseconds unheeded = std::chrono::milliseconds(1200);
};

/// A thread of its own that sleeps until the first request. It takes no signals, and holds no lock while the process
/// forks. A forked child has none: there, nothing happens.
class Watchdog {
public:
  /// Watches the calling thread, which has to outlive it. `end` is called on the watchdog's thread and does not return.
  /// Where no thread can be had there is no watchdog.
  explicit Watchdog(std::function<void()> end, WatchdogPatience patience = {});
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;
  ~Watchdog() = delete; ///< it lasts as long as the process

  /// The process is to stop. A signal handler may call this.
  void request() noexcept {
    noticed_before_ = noticed_.load();
    sem_post(&requested_);
  }
  /// A sign of life, from the code that looks whether the process is to stop.
  void notice() noexcept { ++noticed_; }
  /// How often the thread has looked since the first request.
  std::uint64_t looks() const noexcept { return looks_; }

private:
  void watch();
  std::chrono::nanoseconds processor_time() const;

  const std::function<void()> end_;
  const WatchdogPatience patience_;
  sem_t requested_{};
  clockid_t watched_{};
  std::atomic<std::uint64_t> noticed_{0}, noticed_before_{0}, looks_{0};
};

} // namespace repro_minify
