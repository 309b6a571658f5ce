// A job that a busy machine keeps from its processors.
#pragma once
#include "repro_minify/sandbox.h"

#include <chrono>
#include <ctime>
#include <thread>

namespace repro_minify::sandbox_test {

inline double processor_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

/// Is on a processor for half of the time at most, as on a machine with as many others as processors.
inline void work_now_and_then(double seconds_on_a_processor) {
  const double begin = processor_seconds();
  while (processor_seconds() - begin < seconds_on_a_processor) {
    const double slice = processor_seconds();
    while (processor_seconds() - slice < 0.01) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(12));
  }
}

/// Limits::allow_for_load: the job replied, or the machine is so busy that it had ten times its limit.
inline bool had_longer(const JobEnd &job_end, std::chrono::milliseconds limit) {
  return job_end.ending == Ending::Replied || job_end.wall >= 10 * limit;
}

} // namespace repro_minify::sandbox_test
