// The turns of a reduction. Where it stands is a value, so that what may come can be gone through on a copy.
#pragma once
#include "reduce/checker.h"
#include "reduce/passes/pass.h"
#include "reduce/recorder.h"
#include "reduce/schedule.h"

#include <cstddef>
#include <string>
#include <vector>

namespace repro_minify {

/// The text in ReductionState::incomplete_because if a pass left out nothing but a question that had no answer, however
/// often asked.
inline constexpr const char *had_no_answer = "had no answer to a question";

/// Where a reduction stands between two turns. Beside the verdicts to come, nothing else decides what is asked next.
struct ReductionState {
  Program best;
  Verdict verdict;
  Order order;
  Schedule schedule;
  std::vector<std::string> incomplete_because; ///< by pass: what its last turn left out; empty: nothing
};

/// The outcome of a turn, as far as it got.
struct TurnReport {
  int tried = 0;     ///< candidates that were lower in the Order
  int worked = 0;    ///< of these, how many fail
  double chance = 0; ///< how likely the last of them was to fail, before it was known
  std::string problem;
};

/// Is told of every candidate as it is decided.
class ReductionObserver {
public:
  virtual ~ReductionObserver() = default;
  virtual void turned_down(const Program &, const Order &, const Verdict &, const Order & /*best*/) {}
  virtual void improved(const ReductionState &) {}
};

class Turns {
public:
  Turns(Checker &checker, LastRecording &recorder, const std::vector<const ReductionPass *> &passes,
        ReductionObserver &observer)
      : checker_(checker), recorder_(recorder), passes_(passes), observer_(observer) {}

  /// The turn of pass number `index`. `state` and `report` are up to date when a question is left by exception.
  void take(ReductionState &state, size_t index, TurnReport &report);
  /// Returns true if a Program that no pass proposes fails; it becomes the best if it is lower in the Order.
  bool offer(ReductionState &state, const Program &candidate, const std::vector<LazyProgram> &likely_next,
             TurnReport &report);

private:
  struct Turn;

  bool run_pass(Turn &turn, size_t index);
  bool consider(Turn &turn, const Program &candidate, const Order &order, const std::vector<LazyProgram> &next);

  Checker &checker_;
  LastRecording &recorder_;
  const std::vector<const ReductionPass *> &passes_;
  ReductionObserver &observer_;
};

} // namespace repro_minify
