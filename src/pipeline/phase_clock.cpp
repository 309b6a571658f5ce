#include "repro_minify/phase_clock.h"

#include <algorithm>

namespace repro_minify {

std::vector<std::pair<std::string, double>> PhaseClock::seconds() {
  const auto now = Clock::now();
  if (current_ < phases_.size())
    phases_[current_].second += std::chrono::duration<double>(now - since_).count();
  since_ = now;
  return phases_;
}

void PhaseClock::enter(const std::string &phase) {
  seconds();
  const auto found =
      std::find_if(phases_.begin(), phases_.end(), [&](const auto &entry) { return entry.first == phase; });
  current_ = static_cast<size_t>(found - phases_.begin());
  if (found == phases_.end())
    phases_.emplace_back(phase, 0.0);
  if (told_)
    told_(phase);
}

} // namespace repro_minify
