// The checks that run: the one whose answer is waited for, and guesses at what will be asked after it.
//
// The question that is asked never waits behind guesses, and a guess is killed as soon as an answer that it rests on
// turns out otherwise, or nothing speaks for it any more.
#pragma once

#include "reduce/search_futures.h"
#include "repro_minify/sandbox.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace repro_minify {

template <typename Answer, typename Pool = TaskGroup> class ChecksUnderWay {
public:
  using Milliseconds = std::chrono::milliseconds;
  using Read = std::function<Answer(const JobEnd &)>;
  /// Returns the answer to a question, yes or no; nothing while it has none.
  using Settled = std::function<std::optional<bool>(const std::string &hash)>;
  /// The outcome of a check under that time limit.
  struct Ended {
    JobEnd job_end; ///< without its reply, which the answer has
    Milliseconds timeout;
    Answer answer; ///< what Read makes of the JobEnd
  };

  ChecksUnderWay(Pool &pool, Limits limits, Read read, Settled settled)
      : pool_(pool), limits_(std::move(limits)), read_(std::move(read)), settled_(std::move(settled)) {}

  /// How many were started.
  int started() const { return started_; }
  /// Started and not taken yet.
  bool has(const std::string &hash) const { return running_.count(hash) || early_.count(hash); }
  /// Returns the outcome of a guess that was not asked for yet; null where there is none yet.
  const Ended *early(const std::string &hash) const {
    const auto found = early_.find(hash);
    return found == early_.end() ? nullptr : &found->second.ended;
  }
  /// True if the answer that is waited for is there.
  bool is_there() { return pool_.ready(running_.at(asked_).ticket); }

  /// From now on `hash` is what is asked. Starts it unless it was a guess.
  void ask(const std::string &hash, const std::function<Job()> &make_job, Milliseconds timeout, Upcoming &upcoming) {
    asked_ = hash;
    ++question_;
    stop_disproved();
    if (!has(hash)) {
      make_room(upcoming);
      start(hash, make_job(), timeout);
    }
    stop_unlikely(upcoming);
  }

  void start(const std::string &hash, Job job, Milliseconds timeout, const Assumptions &assumed = {}) {
    ++started_;
    Limits limits = limits_;
    limits.timeout = timeout;
    running_[hash] = {pool_.submit(std::move(job), std::move(limits)), assumed, question_, timeout};
  }

  /// Gives idle workers what may be asked next.
  void keep_busy(Upcoming &upcoming, Milliseconds timeout) {
    take_early();
    while (pool_.workers() > 1 && pool_.has_free_worker() && running_.count(asked_)) {
      const auto guess = upcoming.next();
      if (!guess)
        return;
      start_guess(*guess, timeout);
    }
  }

  /// Waits for one that was started. Nothing when `stop` said so.
  std::optional<Ended> take(const std::string &hash, const std::function<bool()> &stop) {
    if (auto early = early_.extract(hash))
      return std::move(early.mapped().ended);
    auto job_end = pool_.wait(running_.at(hash).ticket, stop);
    if (!job_end)
      return std::nullopt;
    return read(running_.extract(hash).mapped(), std::move(*job_end));
  }

  void stop_all() {
    while (!running_.empty())
      cancel(running_.begin());
  }

private:
  struct Running {
    typename Pool::Ticket ticket;
    Assumptions assumed; ///< it may be asked if these hold
    int likely_at;       ///< number of the last question that it was thought to follow
    Milliseconds timeout;
  };
  /// A guess that has ended.
  struct Early {
    Ended ended;
    typename Pool::Ticket ticket; ///< the lower, the earlier it was begun
  };
  using Runs = std::map<std::string, Running>;

  Ended read(const Running &running, JobEnd job_end) const {
    Answer answer = read_(job_end);
    job_end.reply = {};
    return {std::move(job_end), running.timeout, std::move(answer)};
  }

  typename Runs::iterator cancel(typename Runs::iterator running) {
    pool_.cancel(running->second.ticket);
    return running_.erase(running);
  }

  void start_guess(const Guess &guess, Milliseconds timeout) {
    if (const auto running = running_.find(guess.hash); running != running_.end())
      running->second.likely_at = question_;
    else if (!settled_(guess.hash) && !early_.count(guess.hash))
      if (Job job = guess.make_job())
        start(guess.hash, std::move(job), timeout, guess.assumed);
  }

  /// Takes the outcomes of guesses, which say what may be asked beyond them.
  void take_early() {
    for (auto it = running_.begin(); it != running_.end();) {
      if (it->first == asked_ || !pool_.ready(it->second.ticket)) {
        ++it;
        continue;
      }
      early_.emplace(it->first, Early{read(it->second, *pool_.wait(it->second.ticket)), it->second.ticket});
      it = running_.erase(it);
    }
    forget_oldest();
  }

  /// A guess that was wrong stays wrong: what was begun long ago and was never asked for is not kept for ever.
  void forget_oldest() {
    while (early_.size() > most_early_for_each_worker * static_cast<std::size_t>(pool_.workers()))
      early_.erase(std::min_element(early_.begin(), early_.end(),
                                    [](const auto &a, const auto &b) { return a.second.ticket < b.second.ticket; }));
  }

  bool is_disproved(const Assumptions &assumed) const {
    return std::any_of(assumed.begin(), assumed.end(), [&](const auto &assumption) {
      const std::optional<bool> answer = settled_(assumption.first);
      return answer && *answer != assumption.second;
    });
  }

  /// A guess on a wrong assumption is not waited for, unless it is what is asked all the same.
  void stop_disproved() {
    take_early();
    for (auto it = running_.begin(); it != running_.end();) {
      if (it->first != asked_ && is_disproved(it->second.assumed)) {
        it = cancel(it);
        continue;
      }
      if (!it->second.assumed.empty())
        it->second.likely_at = question_;
      ++it;
    }
  }

  /// Guesses that nothing speaks for any more leave their workers to others.
  void stop_unlikely(Upcoming &upcoming) {
    for (auto it = running_.begin(); it != running_.end();) {
      const bool unlikely = it->second.likely_at < question_ && it->first != asked_ && !upcoming.names(it->first);
      it = unlikely ? cancel(it) : std::next(it);
    }
  }

  /// For the question that is asked now: the guess that was started last goes if no other does.
  void make_room(Upcoming &upcoming) {
    if (!pool_.has_free_worker())
      stop_unlikely(upcoming);
    if (!pool_.has_free_worker() && !running_.empty())
      cancel(std::max_element(running_.begin(), running_.end(),
                              [](const auto &a, const auto &b) { return a.second.ticket < b.second.ticket; }));
  }

  /// A question that was guessed is asked within a few questions, or never.
  static constexpr std::size_t most_early_for_each_worker = 64;

  Pool &pool_;
  const Limits limits_;
  const Read read_;
  const Settled settled_;
  Runs running_;
  std::map<std::string, Early> early_;
  std::string asked_; ///< hash of the question that is asked now
  int question_ = 0;  ///< its number
  int started_ = 0;
};

} // namespace repro_minify
