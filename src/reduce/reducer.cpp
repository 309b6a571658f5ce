#include "repro_minify/reducer.h"

#include "reduce/closest_pass.h"
#include "reduce/forecast.h"
#include "reduce/judge.h"
#include "reduce/passes/pass.h"
#include "reduce/reduce_recorded.h"
#include "reduce/rehearsal.h"
#include "reduce/turns.h"

#include <algorithm>
#include <utility>

namespace repro_minify {
namespace {

/// Runs passes in the order of the Schedule until none accepts anything.
class Reducer final : private Audience {
public:
  Reducer(Program start, Verdict verdict, Judge &judge, const ReduceOptions &options,
          std::vector<const ReductionPass *> passes, std::shared_ptr<const Recording> recording)
      : judge_(judge), options_(options),
        passes_(std::move(passes)), standing_{start, std::move(verdict), order_of(start), Schedule(passes_),
                                              std::vector<bool>(passes_.size())},
        turn_began_(standing_), recorder_(std::move(recording)) {
    for (const auto *pass : passes_)
      statistics_.emplace_back().pass = pass->name;
    judge_.foresee_with([this] { return std::make_unique<Rehearsal>(judge_, recorder_, passes_, turn_began_); });
    judge_.tell_with(forecast_);
  }

  Reduction run() {
    Reduction result;
    save_meanwhile();
    try {
      while (take_turn()) {
      }
      result.one_minimal = all_was_tried();
    } catch (const Interrupted &) {
      result.interrupted = true;
    } catch (const OutOfTime &) {
      result.out_of_time = true;
    }
    result.program = standing_.best;
    result.verdict = standing_.verdict;
    result.passing = passing_.program();
    result.checks = judge_.checks();
    result.cached = judge_.cached();
    result.speculative = judge_.speculative();
    result.seconds = judge_.elapsed_seconds();
    result.check_seconds = judge_.check_seconds();
    result.passes = statistics_;
    return result;
  }

private:
  /// 1-minimality is what the cut certifies; a pass that was skipped or gave up leaves something untried.
  bool all_was_tried() const {
    const auto &incomplete = standing_.incomplete;
    return passes_.size() == reduction_passes().size() &&
           std::none_of(incomplete.begin(), incomplete.end(), [](bool incomplete) { return incomplete; });
  }

  /// False when there is none left to take.
  bool take_turn() {
    turn_began_ = standing_;
    const auto next = standing_.schedule.next();
    if (!next)
      return false;
    PassStatistics &row = statistics_[*next];
    judge_.set_pass(row.pass);
    judge_.set_best(size_of(standing_.best));
    const int checks = judge_.checks(), operators = standing_.order.operators;
    const double begin = judge_.elapsed_seconds();
    TurnReport report;
    const auto add_up = [&] {
      ++row.runs;
      row.tried += report.tried;
      row.worked += report.worked;
      row.checks += judge_.checks() - checks;
      row.seconds += judge_.elapsed_seconds() - begin;
      row.operators_removed += operators - standing_.order.operators;
      row.problem = report.problem.empty() ? row.problem : report.problem;
    };
    try {
      Turns(judge_, recorder_, passes_, *this).take(standing_, *next, report);
    } catch (...) {
      add_up();
      throw;
    }
    add_up();
    return true;
  }

  void save_meanwhile() {
    if (options_.on_improved)
      judge_.do_meanwhile([this] { options_.on_improved(standing_.best); });
  }

  void turned_down(const Program &candidate, const Order &order, const Verdict &verdict, const Order &best) override {
    passing_.consider(candidate, order, verdict, best);
    forecast_.note(false);
  }

  void improved(const Standing &standing) override {
    judge_.enter_search();
    forecast_.note(true);
    passing_.reset();
    judge_.set_best(size_of(standing.best));
    save_meanwhile();
  }

  Judge &judge_;
  const ReduceOptions &options_;
  const std::vector<const ReductionPass *> passes_;
  Standing standing_;
  Standing turn_began_; ///< as `standing_` was before the turn that is being taken
  ClosestPass passing_;
  std::vector<PassStatistics> statistics_;
  Recorder recorder_;
  Forecast forecast_{judge_, recorder_, passes_, turn_began_};
};

} // namespace

Reduction reduce_recorded(const Program &start, std::shared_ptr<const Recording> recording,
                          const Verdict &start_verdict, const Signature &wanted, const InterestingnessTest &test,
                          const ReduceOptions &options) {
  const auto passes = selected_passes(options.passes);
  Judge judge(test, wanted, options);
  judge.enter_phase("hash");
  judge.remember(start, start_verdict);
  return Reducer(start, start_verdict, judge, options, passes, std::move(recording)).run();
}

Reduction reduce(const Program &start, const Verdict &start_verdict, const Signature &wanted,
                 const InterestingnessTest &test, const ReduceOptions &options) {
  return reduce_recorded(start, nullptr, start_verdict, wanted, test, options);
}

} // namespace repro_minify
