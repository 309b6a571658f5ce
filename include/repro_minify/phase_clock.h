// How long each phase of a run took, one after the other.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

class PhaseClock {
public:
  /// Begins with the phase of this name.
  explicit PhaseClock(const std::string &phase) { enter(phase); }
  /// Ends the phase before. One that is entered again goes on.
  void enter(const std::string &phase);
  /// In the order of their begin; the last one ends now.
  std::vector<std::pair<std::string, double>> seconds();
  /// From now on `told` hears of each phase that is entered; it may be empty.
  void tell(std::function<void(const std::string &)> told) { told_ = std::move(told); }

private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::pair<std::string, double>> phases_;
  std::function<void(const std::string &)> told_;
  size_t current_ = 0;
  Clock::time_point since_ = Clock::now();
};

} // namespace repro_minify
