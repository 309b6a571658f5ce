#include "repro_minify/reducer.h"

#include "core/text.h"
#include "reduce/candidate_checker.h"
#include "reduce/lookahead.h"
#include "reduce/passes/pass.h"
#include "reduce/reduce_recorded.h"
#include "reduce/turns.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <tuple>
#include <utility>

namespace repro_minify {
namespace {

/// Data of larger programs is looked at once they are smaller.
constexpr int most_operators_to_begin_with_a_leap = 256;

/// Leaves a reduction whose caller throws when it is told of a better Program. No std::exception: no pass is to blame.
struct CallerThrew {
  std::exception_ptr what;
};

/// The candidate that passes and differs least from the best so far: maintainers diff the two.
class NearestPassingProgram {
public:
  /// A candidate that was not accepted; `best` is the Order of what it was made from.
  void consider(const Program &candidate, const Order &order, const Verdict &verdict, const Order &best) {
    if (verdict.outcome != Verdict::Outcome::Pass || order.operators == 0)
      return;
    const int operators = std::abs(order.operators - best.operators);
    const int nodes = std::abs(order.nodes - best.nodes);
    const Distance distance{operators == 0 && nodes == 0, operators, nodes, std::abs(order.outputs - best.outputs),
                            std::abs(order.inputs - best.inputs)};
    if (!closest_ || distance < closest_->distance)
      closest_ = Candidate{candidate, distance};
  }
  /// There is another best: what was close to the old one is not close any more.
  void reset() { closest_.reset(); }
  std::optional<Program> program() const { return closest_ ? std::optional(closest_->program) : std::nullopt; }

private:
  /// A difference in the program says more than one in its data: those come last.
  using Distance = std::tuple<bool, int, int, int, int>;
  struct Candidate {
    Program program;
    Distance distance;
  };
  std::optional<Candidate> closest_;
};

/// Runs passes in the order of the Schedule until none accepts anything.
class Reducer final {
public:
  Reducer(Program start, Verdict verdict, CandidateChecker &checker, const ReduceOptions &options,
          std::vector<const ReductionPass *> passes, std::shared_ptr<const Recording> recording)
      : checker_(checker), options_(options),
        passes_(std::move(passes)), state_{start, std::move(verdict), order_of(start), Schedule(passes_),
                                           std::vector<std::string>(passes_.size())},
        turn_began_(state_), recorder_(start, std::move(recording)) {
    for (const auto *pass : passes_)
      statistics_.emplace_back().pass = pass->name;
    checker_.foresee_with([this] {
      const auto ahead = std::make_shared<Lookahead>(checker_, recorder_, passes_, turn_began_);
      return [ahead] { return ahead->next(); };
    });
  }

  Reduction run() {
    Reduction result;
    bool gave_up = false;
    try {
      while (take_turn()) {
      }
      result.not_shown_because = left_out();
      say_what_differs_afresh(result);
    } catch (const Interrupted &) {
      result.interrupted = true;
      result.not_shown_because = {"it was interrupted"};
    } catch (EndedEarly why) {
      gave_up = why == EndedEarly::NothingAnswers; // it will not come back: the best so far is what there is
      result.out_of_time = why == EndedEarly::OutOfTime;
      if (result.out_of_time)
        result.not_shown_because = {"the time budget was spent"};
      else if (!gave_up)
        result.not_shown_because = {"smaller candidates come to an end just within the time limit that makes a hang, "
                                    "and not all were waited for"};
    } catch (const CallerThrew &caller) {
      std::rethrow_exception(caller.what);
    }
    say_what_had_no_answer(result, gave_up);
    result.one_minimal = result.not_shown_because.empty();
    result.program = state_.best;
    result.verdict = state_.verdict;
    result.passing = passing_.program();
    result.checks = checker_.tally().checks();
    result.cached = checker_.tally().cached();
    result.seconds = checker_.tally().elapsed_seconds();
    result.check_seconds = checker_.tally().check_seconds();
    result.passes = statistics_;
    return result;
  }

private:
  /// Returns what was not tried on the result. Where that is nothing, every pass found nothing on it in its last turn.
  std::vector<std::string> left_out() const {
    std::vector<std::string> reasons;
    std::string skipped;
    for (const ReductionPass &pass : reduction_passes())
      if (std::none_of(passes_.begin(), passes_.end(), [&](const auto *taken) { return taken->name == pass.name; }))
        skipped += (skipped.empty() ? "" : ", ") + std::string(pass.name);
    if (!skipped.empty())
      reasons.push_back("what was chosen leaves out: " + skipped);
    for (size_t i = 0; i < passes_.size(); ++i)
      if (!state_.incomplete_because[i].empty() && state_.incomplete_because[i] != had_no_answer)
        reasons.push_back(std::string("pass ") + passes_[i]->name + " " + state_.incomplete_because[i]);
    return reasons;
  }

  void say_what_differs_afresh(Reduction &result) const {
    if (const int failing = checker_.failing_afresh())
      result.not_shown_because.push_back(std::to_string(failing) +
                                         " of the last candidates that passed in a process which answers many " +
                                         (failing == 1 ? "fails" : "fail") + " in a fresh one");
  }

  /// Where that ended the reduction, or the last turn of a pass left it at that.
  void say_what_had_no_answer(Reduction &result, bool gave_up) const {
    result.unanswered = checker_.unanswered();
    const auto &incomplete_because = state_.incomplete_because;
    const bool counts =
        gave_up || !result.not_shown_because.empty() ||
        std::find(incomplete_because.begin(), incomplete_because.end(), had_no_answer) != incomplete_because.end();
    if (!counts || result.unanswered == 0)
      return;
    std::string text = counted(result.unanswered, "question") + " had no answer, however often asked (";
    for (const auto &reason : checker_.tally().reasons())
      text += (&reason == &*checker_.tally().reasons().begin() ? "" : "; ") + reason;
    result.not_shown_because.push_back(text + ")");
  }

  /// False when there is none left to take.
  bool take_turn() {
    turn_began_ = state_;
    const auto next = state_.schedule.next();
    if (!next)
      return false;
    if (const auto leaper = who_leaps(*next))
      in_turn_of(*leaper, [&](Turns::Report &report) { leap(*leaper, report); });
    else
      in_turn_of(*next, [&](Turns::Report &report) { turns_.take(state_, *next, report); });
    return true;
  }

  /// Does `work` as a part of that pass's statistics.
  template <typename Work> void in_turn_of(size_t pass, const Work &work) {
    PassStatistics &row = statistics_[pass];
    checker_.set_pass(row.pass);
    checker_.set_best(size_of(state_.best));
    const int checks = checker_.tally().checks(), operators = state_.order.operators;
    const double begin = checker_.tally().elapsed_seconds();
    Turns::Report report;
    const auto add_up = [&] {
      ++row.runs;
      row.tried += report.tried;
      row.worked += report.worked;
      row.checks += checker_.tally().checks() - checks;
      row.seconds += checker_.tally().elapsed_seconds() - begin;
      row.operators_removed += operators - state_.order.operators;
      row.problem = report.problem.empty() ? row.problem : report.problem;
    };
    try {
      work(report);
    } catch (...) {
      add_up();
      throw;
    }
    add_up();
  }

  /// In a search for a hang: the pass in whose name all simplifications are asked for together, before anything else,
  /// while the program hangs for sure, and before each of them is asked for alone. Once for each best so far.
  std::optional<size_t> who_leaps(size_t next) {
    const auto simplifies = [](const ReductionPass *pass) { return pass->goal == Goal::Simplicity; };
    const auto first = std::find_if(passes_.begin(), passes_.end(), simplifies);
    const Tally &tally = checker_.tally(); // what a resumed search takes from the journal has been asked as well
    const bool begins =
        tally.checks() + tally.cached() == 0 && state_.order.operators <= most_operators_to_begin_with_a_leap;
    if (checker_.goal().wanted.kind != FailureKind::Hang || first == passes_.end() ||
        !(begins || simplifies(passes_[next])) || !std::exchange(may_leap_, false))
      return std::nullopt;
    return first - passes_.begin();
  }

  /// Makes the simplifications that work together, found by halves.
  void leap(size_t pass, Turns::Report &report) {
    const std::vector<Program> steps = steps_if_all_works(checker_, recorder_, passes_, state_);
    if (steps.size() < 2) // the passes ask as much
      return;
    size_t work = 0, too_many = steps.size() + 1;
    for (size_t next = steps.size(); too_many - work > 1; next = work + (too_many - work) / 2) {
      const size_t if_not = std::max<size_t>(work + (next - work) / 2, 1);
      const std::vector<LazyProgram> then = {[&] { return steps[if_not - 1]; }};
      (turns_.offer(state_, steps[next - 1], then, report) ? work : too_many) = next;
    }
    if (work > 0)
      state_.schedule.took_turn(pass, true, report.worked, report.tried);
  }

  void save_meanwhile() {
    if (options_.on_improved)
      checker_.do_meanwhile([this] {
        try {
          options_.on_improved(state_.best);
        } catch (const std::exception &) {
          throw CallerThrew{std::current_exception()}; // NOLINT(bugprone-std-exception-baseclass)
        }
      });
  }

  void improved(const ReductionState &state) {
    checker_.enter_search();
    may_leap_ = true;
    passing_.reset();
    checker_.found_better();
    checker_.set_best(size_of(state.best));
    save_meanwhile();
  }

  CandidateChecker &checker_;
  const ReduceOptions &options_;
  const std::vector<const ReductionPass *> passes_;
  ReductionState state_;
  ReductionState turn_began_; ///< as `state_` was before the turn that is being taken
  bool may_leap_ = true;
  NearestPassingProgram passing_;
  std::vector<PassStatistics> statistics_;
  LastRecording recorder_;
  Turns turns_{checker_, recorder_, passes_, [this](const ReductionState &state) { improved(state); },
               [this](const auto &...candidate) { passing_.consider(candidate...); }};
};

} // namespace

Reduction reduce_recorded(const Program &start, std::shared_ptr<const Recording> recording,
                          const Verdict &start_verdict, const Signature &wanted, const InterestingnessTest &test,
                          const ReduceOptions &options) {
  const auto passes = selected_passes(options.passes);
  CandidateChecker checker(test, wanted, options);
  checker.enter_phase("hash");
  checker.remember(start, start_verdict);
  return Reducer(start, start_verdict, checker, options, passes, std::move(recording)).run();
}

Reduction reduce(const Program &start, const Verdict &start_verdict, const Signature &wanted,
                 const InterestingnessTest &test, const ReduceOptions &options) {
  return reduce_recorded(start, nullptr, start_verdict, wanted, test, options);
}

} // namespace repro_minify
