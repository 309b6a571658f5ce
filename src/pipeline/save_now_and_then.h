// The best so far, on disk while the search goes on.
#pragma once
#include "repro_minify/repro.h"

#include <chrono>
#include <string>

namespace repro_minify {

/// Nothing is lost if we are killed: the journal leads back to here. A file for each small step forward would cost more
/// than the step.
class SaveNowAndThen {
public:
  SaveNowAndThen(std::string folder, bool grad) : folder_(std::move(folder)), grad_(grad) {}

  void operator()(const Program &program) {
    if (Clock::now() - last_ < std::chrono::milliseconds(500))
      return;
    save_program(program, folder_, grad_, "reduced", /*durable=*/false);
    last_ = Clock::now();
  }

private:
  using Clock = std::chrono::steady_clock;
  std::string folder_;
  bool grad_;
  Clock::time_point last_{}; ///< the machine's start: the first is saved
};

} // namespace repro_minify
