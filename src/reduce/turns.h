// The turns of passes that a reduction consists of: who answers their questions, which comes next, and what it did.
#pragma once

#include "reduce/passes/pass.h"
#include "repro_minify/record.h"
#include "repro_minify/reducer.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

/// True of a graph that is not worth a check: a loop goes on for ever, whatever the inputs are (what a cut makes of a
/// `while` without the condition), or is bounded by a count and a condition, which TorchScript has no text for.
bool is_of_no_use(const torch::jit::Graph &graph);

/// The subject of all questions of a reduction: whether a Program still fails with what was seen.
struct ReductionGoal {
  InterestingnessTest test;
  Signature wanted;
  ReduceOptions options;

  /// True if this Verdict is the failure that is looked for.
  bool is_wanted(const Verdict &verdict) const { return shows(verdict, wanted, options.same_failure); }
  /// A failure that shows in an output needs one, and any needs an eager run that comes to its end, and a text.
  bool cannot_fail(const Program &program) const {
    return (wanted.where == "output" && program.graph->outputs().empty()) || is_of_no_use(*program.graph);
  }
};

/// Answers the questions of a turn: the CandidateChecker runs checks, AssumingChecker looks ahead.
class Checker {
public:
  virtual ~Checker() = default;
  virtual const ReductionGoal &goal() const = 0;
  /// Returns the Verdict on the Program; it stays where it is. `likely_next` is what will probably be asked after it.
  virtual const Verdict &check(const Program &program, const std::vector<LazyProgram> &likely_next) = 0;
  /// The same, for a caller who wants to know more of it than whether it fails.
  virtual const Verdict &check_in_full(const Program &program) { return check(program, {}); }
  /// True if the outcome of the turn is no longer wanted: long work is then ended, and leave_if_over() called.
  virtual bool is_over() const = 0;
  /// Leaves the turn by exception where is_over().
  virtual void leave_if_over() = 0;
  /// Called before eager runs a program for a pass. A look ahead runs none, as its program may never come to be: it
  /// leaves the turn by exception, or throws std::runtime_error, after which the pass goes without.
  virtual void before_recording() = 0;
  /// Questions that had no answer so far.
  virtual int unanswered() const = 0;
  // These two do the same as those of the PassServices.
  virtual int questions_at_once() const = 0;
  virtual void enter_phase(const std::string &phase) = 0;
};

/// Recordings cost a child each, and several passes in a row want the one of the same Program.
class LastRecording {
public:
  LastRecording() = default;
  /// Begins with one of `program` that was made already, under the settings that will be asked for; null for none.
  LastRecording(const Program &program, std::shared_ptr<const Recording> first);
  /// The last one made if it is of this very graph and these very values; otherwise null.
  std::shared_ptr<const Recording> made_of(const Program &program) const;
  /// Makes one. Throws std::runtime_error for a Program that eager cannot run.
  std::shared_ptr<const Recording> make(const Program &program, const RunSettings &settings, const Limits &limits);

private:
  std::shared_ptr<const Recording> last_;
  Program of_; ///< kept alive, so that no other Program can have its addresses
};

// Which pass has its turn next: the one with the most expected gain for its cost, until none finds anything.
//
// Cost is counted in checks, weighted by the size of what is checked, rather than in seconds: a clock would give
// another order on another machine, with another number of jobs, or when a killed run is resumed.

class Schedule {
public:
  explicit Schedule(const std::vector<const ReductionPass *> &passes);

  /// Index of the pass to run next; nothing when all have found nothing since the last change. Passes of one goal take
  /// turns until none of them finds anything, then those of the other do.
  std::optional<size_t> next();
  /// Takes the outcome of a turn. `accepted`: the program changed, so every pass may find something again.
  void took_turn(size_t pass, bool accepted, double gain, double cost);
  /// After its turn: the pass has more to try, but only once all others of its goal have found nothing.
  void deferred(size_t pass);
  bool is_deferred(size_t pass) const { return rows_[pass].deferred; }
  bool had_turn(size_t pass) const { return rows_[pass].turns > 0; }

private:
  struct Row {
    Goal goal;
    bool open = true;
    double gain; ///< recent turns count most
    double cost;
    bool deferred = false;
    int turns = 0;
  };
  std::optional<size_t> best_of(Goal goal) const;
  static bool comes_before(const Row &a, const Row &b);

  std::vector<Row> rows_;
  Goal goal_ = Goal::Size;
};

// The turns of a reduction. Where it stands is a value, so that what may come can be gone through on a copy.

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

/// Is told of a candidate that is not accepted, with the Order of the best.
using OnTurnedDown =
    std::function<void(const Program &candidate, const Order &order, const Verdict &verdict, const Order &best)>;
/// Is told of a candidate that has become the best.
using OnImproved = std::function<void(const ReductionState &)>;

class Turns {
public:
  /// The outcome of a turn, as far as it got.
  struct Report {
    int tried = 0;     ///< candidates that were lower in the Order
    int worked = 0;    ///< of these, how many fail
    double chance = 0; ///< how likely the last of them was to fail, before it was known
    std::string problem;
  };
  /// `on_improved` and `on_turned_down` may be empty.
  Turns(Checker &checker, LastRecording &recorder, const std::vector<const ReductionPass *> &passes,
        OnImproved on_improved = {}, OnTurnedDown on_turned_down = {})
      : checker_(checker), recorder_(recorder), passes_(passes), on_improved_(std::move(on_improved)),
        on_turned_down_(std::move(on_turned_down)) {}

  /// The turn of pass number `index`. `state` and `report` are up to date when a question is left by exception.
  void take(ReductionState &state, size_t index, Report &report);
  /// Returns true if a Program that no pass proposes fails; it becomes the best if it is lower in the Order.
  bool offer(ReductionState &state, const Program &candidate, const std::vector<LazyProgram> &likely_next,
             Report &report);

private:
  struct Turn;

  bool run_pass(Turn &turn, size_t index);
  bool consider(Turn &turn, const Program &candidate, const Order &order, const std::vector<LazyProgram> &next);

  Checker &checker_;
  LastRecording &recorder_;
  const std::vector<const ReductionPass *> &passes_;
  const OnImproved on_improved_;
  const OnTurnedDown on_turned_down_;
};

} // namespace repro_minify
