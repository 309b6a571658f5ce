// The answers and the experience that a reduction has so far: what is known, how much was asked, how long it took.
#pragma once

#include "repro_minify/sandbox.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace repro_minify {

// The known answers to questions: those that this run was given, and those in the journal of an earlier one.

/// A `Journal` has find(key), which points to an Answer or to nothing, and append(key, answer, details...), which
/// returns the Answer that it keeps. What the journal keeps is not kept here once more.
template <typename Answer, typename Journal> class Memory {
public:
  /// `journal` may be null.
  explicit Memory(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}

  /// Null where nothing is known.
  const Answer *find(const std::string &key) const {
    if (const auto known = known_.find(key); known != known_.end())
      return &known->second;
    return journal_ ? journal_->find(key) : nullptr;
  }

  /// The answer that this run has been told: nothing that only an earlier one was.
  const Answer *told(const std::string &key) const {
    return known_.count(key) || seen_in_journal_.count(key) ? find(key) : nullptr;
  }

  struct Recalled {
    const Answer *answer;
    bool from_journal; ///< and never recalled before
  };
  Recalled recall(const std::string &key) {
    const Answer *answer = find(key);
    return {answer, answer && !known_.count(key) && seen_in_journal_.insert(key).second};
  }

  /// Keeps an answer that is known without asking. The first that is learnt stays.
  const Answer &learn(const std::string &key, Answer answer) {
    return known_.emplace(key, std::move(answer)).first->second;
  }
  /// Keeps an answer that was asked for: in the journal, if there is one, with the details that it wants.
  template <typename... Details>
  const Answer &write_down(const std::string &key, Answer answer, const Details &...details) {
    if (!journal_)
      return learn(key, std::move(answer));
    seen_in_journal_.insert(key);
    return journal_->append(key, std::move(answer), details...);
  }

  /// Keeps the outcome of asking in vain, which is no answer, apart from the answers; the last time counts.
  const Answer &note_in_vain(const std::string &key, Answer answer) {
    return in_vain_.insert_or_assign(key, std::move(answer)).first->second;
  }
  const Answer *in_vain(const std::string &key) const {
    const auto found = in_vain_.find(key);
    return found == in_vain_.end() ? nullptr : &found->second;
  }

private:
  std::shared_ptr<Journal> journal_;
  std::map<std::string, Answer> known_;
  std::set<std::string> seen_in_journal_; ///< keys of what was written down or recalled
  std::map<std::string, Answer> in_vain_;
};

// The count of what a reduction has asked so far, and the time that it took.

class Tally {
public:
  /// Seconds since the begin.
  using Clock = std::function<double()>;
  /// One that begins now.
  static Clock clock() {
    return [begin = std::chrono::steady_clock::now()] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
  }

  explicit Tally(Clock clock = Tally::clock()) : clock_(std::move(clock)) {}

  /// `seconds`: what the check itself took.
  void answered(double seconds) {
    ++checks_;
    check_seconds_ += seconds;
    unanswered_in_a_row_ = 0;
  }
  /// The answer was known already.
  void recalled() { ++cached_; }
  /// However often asked.
  void unanswered(const std::string &reason) {
    ++unanswered_;
    ++unanswered_in_a_row_;
    reasons_.insert(reason);
  }

  double elapsed_seconds() const { return clock_(); }
  int checks() const { return checks_; }
  int cached() const { return cached_; }
  double check_seconds() const { return check_seconds_; }
  /// Questions that had no answer, and why; each reason once.
  int unanswered() const { return unanswered_; }
  const std::set<std::string> &reasons() const { return reasons_; }
  /// So many in a row had none that no other will have one.
  bool nothing_answers() const { return unanswered_in_a_row_ >= most_unanswered_in_a_row; }

private:
  static constexpr int most_unanswered_in_a_row = 8;

  Clock clock_;
  int checks_ = 0, cached_ = 0;
  double check_seconds_ = 0;
  int unanswered_ = 0, unanswered_in_a_row_ = 0;
  std::set<std::string> reasons_;
};

// The time limit of the first try of a check, from what earlier ones took. What passes it is asked again, alone, under
// the full limit, which decides: a machine that stood still is told from a program that hangs, and costs seconds.

class LearnedTimeout {
public:
  /// `most` is the limit to begin with; 0: there is none, and nothing is learnt. Nothing is learnt either with
  /// `hang_is_wanted`, where a hang may be the failure that is looked for: the limit is then what makes a hang of a
  /// candidate, and has to be the same for each of them.
  LearnedTimeout(std::chrono::milliseconds most, bool hang_is_wanted) : most_(most), hang_is_wanted_(hang_is_wanted) {}

  /// A check that came to its end by itself.
  void saw(std::chrono::duration<double> wall) {
    longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(wall));
    ++seen_;
  }

  std::chrono::milliseconds limit() const {
    if (most_.count() == 0 || hang_is_wanted_ || seen_ < enough)
      return most_;
    return std::min(most_, std::max(floor, longest_ * generosity));
  }

  /// The limit that decides. A check that a shorter one ended says nothing, and is made again under this one.
  std::chrono::milliseconds full() const { return most_; }

private:
  static constexpr int enough = 5;
  static constexpr int generosity = 20;
  /// A busy machine may stand still for a while.
  static constexpr std::chrono::milliseconds floor{3000};

  std::chrono::milliseconds most_;
  bool hang_is_wanted_;
  std::chrono::milliseconds longest_{0};
  int seen_ = 0;
};

} // namespace repro_minify
