// The questions that may be asked, likeliest first. The code that asks goes on with assumed answers, on a copy of where
// it stands, until it asks something open; that has two answers, and each is a future of its own.
#pragma once
#include "reduce/questions/dry_run.h"

#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <variant>
#include <vector>

namespace repro_minify {

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
      if (std::holds_alternative<WasStopped>(end))
        tries_ = 0;
      if (auto *question = std::get_if<Question>(&end)) {
        for (bool answer : {true, false})
          futures_.push(further(future, *question, answer));
        return Foreseen{std::move(*question), std::move(future.assumed)};
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

} // namespace repro_minify
