#include "repro_minify/reducer.h"

#include "reduce/judge.h"
#include "reduce/passes/pass.h"

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

/// Runs the passes in turn until a whole round accepts nothing.
class Reducer {
public:
  Reducer(Program start, Verdict verdict, Judge &judge, const ReduceOptions &options)
      : judge_(judge), options_(options), best_(std::move(start)), verdict_(std::move(verdict)) {
    judge_.set_best(size_of(best_));
    for (const auto &pass : reduction_passes())
      statistics_.push_back({pass.name});
  }

  Reduction run() {
    Reduction result;
    try {
      while (round()) {
      }
      result.one_minimal = !incomplete_;
    } catch (const Interrupted &) {
      result.interrupted = true;
    }
    result.program = best_;
    result.verdict = verdict_;
    result.checks = judge_.checks();
    result.cached = judge_.cached();
    result.speculative = judge_.speculative();
    result.seconds = judge_.elapsed_seconds();
    result.passes = statistics_;
    return result;
  }

private:
  /// One round of all passes. The first pass decides 1-minimality, so it has the last word: a round in which any other
  /// pass accepted something is followed by another.
  bool round() {
    bool any = false;
    incomplete_ = false;
    for (size_t i = 0; i < reduction_passes().size(); ++i)
      any |= run_pass(i);
    return any;
  }

  bool run_pass(size_t index) {
    const auto &pass = reduction_passes()[index];
    judge_.set_pass(pass.name);
    const double begin = judge_.elapsed_seconds();
    // The lambda replaces best_; passes hold it by reference and see the new one.
    const std::function<bool(const Program &, const std::vector<Judge::LazyProgram> &)> accept =
        [&](const Program &candidate, const std::vector<Judge::LazyProgram> &next) {
          ++statistics_[index].tried;
          if (!(order_of(candidate) < order_of(best_)))
            return false;
          const Verdict verdict = judge_.judge(candidate, next);
          if (!judge_.is_wanted(verdict) || (makes_eager_infinite(verdict) && !makes_eager_infinite(verdict_)))
            return false;
          ++statistics_[index].worked;
          best_ = candidate;
          verdict_ = verdict;
          judge_.set_best(size_of(best_));
          if (options_.on_improved)
            options_.on_improved(best_);
          return true;
        };
    PassContext context{judge_, best_, accept, incomplete_};
    const bool any = pass.run(context);
    statistics_[index].seconds += judge_.elapsed_seconds() - begin;
    return any;
  }

  Judge &judge_;
  const ReduceOptions &options_;
  Program best_;
  Verdict verdict_;
  std::vector<PassStatistics> statistics_;
  bool incomplete_ = false;
};

} // namespace

Reduction reduce(const Program &start, const Verdict &start_verdict, const Signature &wanted,
                 std::shared_ptr<const Backend> backend, const ReduceOptions &options) {
  Judge judge(std::move(backend), wanted, options);
  return Reducer(start, start_verdict, judge, options).run();
}

} // namespace repro_minify
