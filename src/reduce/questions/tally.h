// The count of what a reduction has asked so far, and the time that it took.
#pragma once
#include <functional>
#include <set>
#include <string>

namespace repro_minify {

class Tally {
public:
  /// Seconds since the begin.
  using Clock = std::function<double()>;
  /// One that begins now.
  static Clock clock();

  explicit Tally(Clock clock = Tally::clock()) : clock_(std::move(clock)) {}

  /// `seconds`: what the check itself took.
  void answered(double seconds);
  /// The answer was known already.
  void recalled() { ++cached_; }
  /// However often asked.
  void unanswered(const std::string &reason);

  double elapsed_seconds() const { return clock_(); }
  int checks() const { return checks_; }
  int cached() const { return cached_; }
  double check_seconds() const { return check_seconds_; }
  /// Questions that had no answer, and why; each reason once.
  int unanswered() const { return unanswered_; }
  const std::set<std::string> &reasons() const { return reasons_; }
  /// So many in a row had none that no other will have one.
  bool nothing_answers() const;

private:
  Clock clock_;
  int checks_ = 0, cached_ = 0;
  double check_seconds_ = 0;
  int unanswered_ = 0, unanswered_in_a_row_ = 0;
  std::set<std::string> reasons_;
};

} // namespace repro_minify
