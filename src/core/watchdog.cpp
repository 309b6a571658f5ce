#include "core/watchdog.h"

#include "core/signals_blocked.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

namespace repro_minify {
Watchdog::Watchdog(std::function<void()> end, WatchdogPatience patience) : end_(std::move(end)), patience_(patience) {
  sem_init(&requested_, /*pshared=*/0, /*value=*/0);
  if (pthread_getcpuclockid(pthread_self(), &watched_) != 0)
    return;
  const AllSignalsBlocked scope; // what they interrupt is what the other threads wait in
  try {
    std::thread([this] { watch(); }).detach();
  } catch (const std::system_error &) {
    return; // a machine that gives no thread gives no check either
  }
}

std::chrono::nanoseconds Watchdog::processor_time() const {
  timespec time{};
  clock_gettime(watched_, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  while (sem_wait(&requested_) != 0 && errno == EINTR)
    ;
  auto by_clock = patience_.unheeded;
  for (std::uint64_t noticed = noticed_before_;; noticed = noticed_, by_clock = patience_.waiting) {
    const auto computed = processor_time();
    const auto since = Clock::now();
    while (noticed_ == noticed) {
      ++looks_;
      if (processor_time() - computed >= patience_.computing || Clock::now() - since >= by_clock)
        end_();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

} // namespace repro_minify
