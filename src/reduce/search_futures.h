// The questions that may be asked next, likeliest first, and those that a pass or a look ahead names.
#pragma once

#include "repro_minify/sandbox.h"

#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

// Code that asks questions is run ahead, as it is, until it asks what has no answer yet.
//
// It asks from the middle of its loops, and has nothing to go on with there: it has to be left. That it is unwound is
// known in this file alone; outside, what a dry run came to is a value. (docs/notes/parallelism.md: why not otherwise)

/// The outcome of a dry run. One that came to its end asked nothing that is open, or nothing that can be foreseen.
template <typename Question> struct DryRunEnd {
  std::optional<Question> question = {}; ///< the first that is open
  bool stopped = false;                  ///< the question that it would have asked is no longer needed
};

template <typename Question> class DryRun {
public:
  /// Does `work`, as far as it gets before something in it calls leave_at() or stop().
  template <typename Work> DryRunEnd<Question> run(const Work &work) {
    end_ = {};
    try {
      work();
    } catch (const Left &left) {
      if (left.whose != this)
        throw;
    }
    return std::exchange(end_, {});
  }

  /// For what is done within run(); end(): what comes next depends on more than can be assumed.
  [[noreturn]] void leave_at(Question question) {
    end_.question = std::move(question);
    throw Left{this}; // NOLINT(bugprone-std-exception-baseclass)
  }
  [[noreturn]] void end() {
    end_ = {};
    throw Left{this}; // NOLINT(bugprone-std-exception-baseclass)
  }
  [[noreturn]] void stop() {
    end_.stopped = true;
    throw Left{this}; // NOLINT(bugprone-std-exception-baseclass)
  }

private:
  /// No std::exception: whatever the code does about errors, it lets this one pass.
  struct Left {
    const DryRun *whose;
  };

  DryRunEnd<Question> end_;
};

// The questions that may be asked, likeliest first. The code that asks goes on with assumed answers, on a copy of where
// it stands, until it asks something open; that has two answers, and each is a future of its own.

/// Maps a question's key to true if it is assumed to be answered yes.
template <typename Key> using AssumedAnswers = std::map<Key, bool>;

/// `State` is where what asks stands: a value. A `Question` has a `key`, and a `chance` of being answered yes.
template <typename State, typename Question> class Futures {
public:
  using Assumed = AssumedAnswers<decltype(Question::key)>;
  struct Foreseen {
    Question question;
    Assumed assumed; ///< it may be asked if these hold
  };

  /// At most `tries` futures are gone into: many lead to the same question, and to none.
  Futures(State now, int tries) : tries_(tries) { futures_.push({1, std::move(now), {}}); }

  /// The question that is open in the likeliest future that was not gone into yet. `go_on(state, assumed)` moves a
  /// State to where it asks what is open, and says what that is: a DryRunEnd. One that was stopped is the last.
  template <typename GoOn> std::optional<Foreseen> next(const GoOn &go_on) {
    while (!futures_.empty() && tries_-- > 0) {
      Future future = futures_.top();
      futures_.pop();
      DryRunEnd<Question> end = go_on(future.state, future.assumed);
      if (end.stopped)
        tries_ = 0;
      if (end.question) {
        for (bool answer : {true, false})
          futures_.push(further(future, *end.question, answer));
        return Foreseen{std::move(*end.question), std::move(future.assumed)};
      }
    }
    return std::nullopt;
  }

private:
  struct Future {
    double probability; ///< of all that is assumed together
    State state;
    Assumed assumed;
  };
  struct LessLikely {
    bool operator()(const Future &left, const Future &right) const { return left.probability < right.probability; }
  };

  static Future further(const Future &future, const Question &question, bool answer) {
    Future next = future;
    next.probability *= answer ? question.chance : 1 - question.chance;
    next.assumed[question.key] = answer;
    return next;
  }

  std::priority_queue<Future, std::vector<Future>, LessLikely> futures_;
  int tries_;
};

// Guesses at what will be asked.

/// The assumed answers to questions, by the question's hash.
using Assumptions = AssumedAnswers<std::string>;

/// A question that may be asked, if the answers to others are as assumed.
struct Guess {
  std::string hash;
  std::function<Job()> make_job; ///< makes the check that answers it; an empty Job where none is needed
  Assumptions assumed = {};
};
/// A Guess that is made only when it is needed.
using LazyGuess = std::function<Guess()>;

/// Says what may be asked after the question that is asked now: the likeliest that was not named yet; nothing when none
/// is left that is worth it.
using Foresight = std::function<std::optional<Guess>()>;

// The questions that may be asked next: those that the pass names, then those of the Foresight. Each is made once, and
// not before it is needed.

using MakeForesight = std::function<Foresight()>;

class Upcoming {
public:
  /// `make_foresight` may be empty.
  Upcoming(std::vector<LazyGuess> named, MakeForesight make_foresight)
      : named_(std::move(named)), made_(named_.size()), make_foresight_(std::move(make_foresight)) {}

  /// True if the pass has named it.
  bool names(const std::string &hash) {
    for (std::size_t i = 0; i < made_.size(); ++i)
      if (at(i).hash == hash)
        return true;
    return false;
  }
  /// The next one that next() has not returned yet.
  std::optional<Guess> next() {
    if (next_ < made_.size())
      return at(next_++);
    if (!foresight_ && make_foresight_)
      foresight_ = make_foresight_();
    return foresight_ ? foresight_() : std::nullopt;
  }

private:
  const Guess &at(std::size_t i) {
    if (!made_[i])
      made_[i] = named_[i]();
    return *made_[i];
  }

  const std::vector<LazyGuess> named_;
  std::vector<std::optional<Guess>> made_;
  std::size_t next_ = 0;
  const MakeForesight make_foresight_;
  Foresight foresight_;
};

} // namespace repro_minify
