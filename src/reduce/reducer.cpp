#include "repro_minify/reducer.h"

#include "reduce/closest_pass.h"
#include "reduce/judge.h"
#include "reduce/passes/pass.h"
#include "reduce/schedule.h"

#include <algorithm>

namespace repro_minify {
namespace {

/// Eager itself answers NaN or Inf: a program that nobody would call a bug report, and the door to another failure.
bool makes_eager_infinite(const Verdict &verdict) {
  for (const auto *leaves : {&verdict.outputs, &verdict.gradients})
    for (const auto &leaf : *leaves)
      if (leaf.ref_nan > 0 || leaf.ref_inf > 0)
        return true;
  return false;
}

/// Runs passes in the order of the Schedule until none accepts anything.
class Reducer {
public:
  Reducer(Program start, Verdict verdict, Judge &judge, const ReduceOptions &options,
          std::vector<const ReductionPass *> passes)
      : judge_(judge), options_(options), best_(std::move(start)), verdict_(std::move(verdict)),
        order_(order_of(best_)), passes_(std::move(passes)), schedule_(passes_), incomplete_(passes_.size()) {
    for (const auto *pass : passes_)
      statistics_.emplace_back().pass = pass->name;
  }

  Reduction run() {
    Reduction result;
    try {
      while (const auto next = schedule_.next())
        take_turn(*next);
      result.one_minimal = all_was_tried();
    } catch (const Interrupted &) {
      result.interrupted = true;
    } catch (const OutOfTime &) {
      result.out_of_time = true;
    }
    result.program = best_;
    result.verdict = verdict_;
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
    return passes_.size() == reduction_passes().size() &&
           std::none_of(incomplete_.begin(), incomplete_.end(), [](bool incomplete) { return incomplete; });
  }

  void take_turn(size_t index) {
    PassStatistics &row = statistics_[index];
    judge_.set_pass(row.pass);
    judge_.set_best(size_of(best_), schedule_.open());
    const Order before = order_;
    const PassStatistics earlier = row;
    const int checks = judge_.checks();
    const double begin = judge_.elapsed_seconds();
    cost_ = 0;
    const bool put_off = run_pass(index);
    ++row.runs;
    row.checks += judge_.checks() - checks;
    row.seconds += judge_.elapsed_seconds() - begin;
    const int removed = before.operators - order_.operators;
    row.operators_removed += removed;
    const double gain = passes_[index]->goal == Goal::Size ? removed : row.worked - earlier.worked;
    schedule_.took_turn(index, order_ < before, gain, cost_);
    if (put_off)
      schedule_.put_off(index);
  }

  /// Whether the pass puts off the rest of what it has to try.
  bool run_pass(size_t index) {
    PassStatistics &row = statistics_[index];
    const PassContext::Ask fails = [&](const Program &candidate, const std::vector<Judge::LazyProgram> &next) {
      return consider(candidate, order_of(candidate), next, row);
    };
    const PassContext::Ask accept = [&](const Program &candidate, const std::vector<Judge::LazyProgram> &next) {
      const Order order = order_of(candidate);
      return order < order_ && consider(candidate, order, next, row) && order == order_;
    };
    bool incomplete = false, put_off = false;
    // The lambdas replace best_ and verdict_; passes hold them by reference and see the new ones.
    PassContext context{
        judge_, best_, verdict_, accept, fails, recorder_, incomplete, put_off, schedule_.is_put_off(index)};
    try {
      passes_[index]->run(context);
    } catch (const std::exception &error) {
      // A pass that stumbles over a strange program must not cost what the others found.
      row.problem = error.what();
      incomplete = true;
      put_off = false;
    }
    incomplete_[index] = incomplete || put_off;
    return put_off;
  }

  /// Whether the candidate fails; it becomes the best if it is lower in the Order too.
  bool consider(const Program &candidate, const Order &order, const std::vector<Judge::LazyProgram> &next,
                PassStatistics &row) {
    const bool lower = order < order_;
    row.tried += lower;
    cost_ += 1 + order.nodes / nodes_that_cost_as_much_as_a_process;
    const Verdict &verdict = judge_.judge(candidate, next);
    if (!judge_.is_wanted(verdict) || (makes_eager_infinite(verdict) && !makes_eager_infinite(verdict_))) {
      passing_.consider(candidate, order, verdict, order_);
      return false;
    }
    if (!lower)
      return true;
    ++row.worked;
    best_ = candidate;
    verdict_ = verdict;
    order_ = order;
    passing_.reset();
    judge_.set_best(size_of(best_), schedule_.open());
    if (options_.on_improved)
      options_.on_improved(best_);
    return true;
  }

  static constexpr double nodes_that_cost_as_much_as_a_process = 256;

  Judge &judge_;
  const ReduceOptions &options_;
  Program best_;
  Verdict verdict_;
  Order order_;
  ClosestPass passing_;
  std::vector<const ReductionPass *> passes_;
  Schedule schedule_;
  std::vector<PassStatistics> statistics_;
  std::vector<bool> incomplete_;
  Recorder recorder_;
  double cost_ = 0; ///< of the turn that is being taken
};

} // namespace

Reduction reduce(const Program &start, const Verdict &start_verdict, const Signature &wanted,
                 const InterestingnessTest &test, const ReduceOptions &options) {
  const auto passes = selected_passes(options.passes);
  Judge judge(test, wanted, options);
  return Reducer(start, start_verdict, judge, options, passes).run();
}

} // namespace repro_minify
