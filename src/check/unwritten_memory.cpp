#include "check/unwritten_memory.h"

#include "check/compare_runs.h"
#include "check/initial_state.h"
#include "program/compute.h"

#include <malloc.h>

namespace repro_minify {
namespace {

/// One instance compiled and called, all of it over memory that is filled like this.
std::vector<Observed> run_over(Fill fill, const Subject &subject, const Backend &backend, const CheckOptions &options) {
  fill_unwritten_memory(fill);
  const RunScope scope(run_settings(backend, options));
  Instance instance = subject({.requires_grad = options.grad, .device = options.device});
  const InitialState before(instance, backend.runs_the_module());
  const Compiled compiled = backend.compile(instance.module);
  const RunOptions how{
      .grad = options.grad,
      .state = !options.only_forward,
      .module = backend.runs_the_module(),
      .boxed = backend.boxed_call(),
      .unchanged = [&](std::size_t place, const c10::IValue &value) { return before.still_holds(place, value); }};
  std::vector<Observed> runs;
  for (int call = 0; call < (backend.needs_several_calls() ? options.calls : 1); ++call) {
    scope.begin_run();
    runs.push_back(run_program(compiled, instance, how));
    scope.end_run();
  }
  return runs;
}

bool all_equal(const std::vector<Observed> &a, const std::vector<Observed> &b) {
  CompareOptions exactly;
  exactly.rule = CompareRule::Exact;
  exactly.equal_nan = true;
  Verdict ignored;
  for (size_t call = 0; call < a.size(); ++call)
    if (!compare_runs(a[call], b[call], nullptr, exactly, ignored))
      return false;
  return true;
}

} // namespace

void fill_unwritten_memory(Fill fill) {
#ifdef M_PERTURB
  // Allocated memory then holds 0xaa, hardly more than zero as a number, or 0x40: 3 as float32, 32.5 as float64.
  mallopt(M_PERTURB, fill == Fill::Usual ? usual_perturbation : 0xbf);
#else
  (void)fill;
#endif
}

std::optional<bool> reads_unwritten_memory(Subject subject, std::shared_ptr<const Backend> backend,
                                           const CheckOptions &options, const Limits &limits) {
  const Job job = [&](Child &child) {
    child.confine(backend->confinement());
    const auto once = run_over(Fill::Usual, subject, *backend, options);
    const bool changes = !all_equal(once, run_over(Fill::Other, subject, *backend, options));
    const bool comes_back = all_equal(once, run_over(Fill::Usual, subject, *backend, options));
    child.reply(!comes_back ? "unknown" : changes ? "yes" : "no");
  };
  // Which memory a run gets is up to chance too: one that does not come back says nothing, and is asked again.
  for (int attempt = 0; attempt < 5; ++attempt) {
    const Outcome outcome = run_in_sandbox(job, limits);
    if (outcome.ending != Ending::Replied)
      return std::nullopt;
    if (outcome.reply != "unknown")
      return outcome.reply == "yes";
  }
  return std::nullopt;
}

} // namespace repro_minify
