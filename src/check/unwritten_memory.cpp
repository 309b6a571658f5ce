#include "check/unwritten_memory.h"

#include "check/compare_runs.h"
#include "check/initial_state.h"
#include "program/compute.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>
#include <functional>

#include <malloc.h>

namespace repro_minify {
namespace {

/// Compiles one instance and calls it, over memory that is filled like this. Returns what was observed of each call.
std::vector<Observed> run_over(Fill fill, const ModuleFactory &factory, const Backend &backend,
                               const CheckOptions &options) {
  fill_unwritten_memory(fill);
  const RunScope scope(run_settings(backend, options));
  Instance instance = factory({.requires_grad = options.grad, .device = options.device});
  const InitialState before(instance, backend.traits().runs_the_module);
  const Compiled compiled = backend.compile(instance.module);
  const RunOptions how{
      .grad = options.grad,
      .state = !options.only_forward,
      .module = backend.traits().runs_the_module,
      .boxed = backend.traits().boxed_call,
      .unchanged = [&](std::size_t place, const c10::IValue &value) { return before.still_holds(place, value); }};
  std::vector<Observed> runs;
  for (int call = 0; call < (backend.traits().needs_several_calls ? options.calls : 1); ++call) {
    scope.begin_run();
    runs.push_back(run_program(compiled, instance, how));
    scope.end_run();
  }
  return runs;
}

using Runs = std::vector<std::vector<Observed>>; ///< [run][call]

bool equal(const Observed &a, const Observed &b) {
  CompareOptions exactly;
  exactly.rule = CompareRule::Exact;
  exactly.equal_nan = true;
  Verdict ignored;
  return compare_runs(a, b, nullptr, exactly, ignored);
}

bool any_equal(const Runs &some, const Runs &others, size_t call) {
  return std::any_of(some.begin(), some.end(), [&](const auto &one) {
    return std::any_of(others.begin(), others.end(),
                       [&](const auto &other) { return &one != &other && equal(one[call], other[call]); });
  });
}

/// True if the results come from the filling: each filling gives results of its own, and gives them again. (Which piece
/// of memory a call gets is up to chance, so that one filling may give two or three results.)
bool follows_the_fill(const Runs &usual, const Runs &other, size_t call) {
  return any_equal(usual, usual, call) && any_equal(other, other, call) && !any_equal(usual, other, call);
}

/// Returns "yes", "no", or "unknown" where further runs may tell.
const char *depends_on_fill(const std::function<std::vector<Observed>(Fill)> &run) {
  Runs usual = {run(Fill::Usual)}, others = {run(Fill::Other)};
  const size_t calls = usual.front().size();
  const auto any_call = [&](const auto &is) {
    for (size_t call = 0; call < calls; ++call)
      if (is(call))
        return true;
    return false;
  };
  usual.push_back(run(Fill::Usual));
  const auto differs = [&](size_t call) {
    return !equal(usual[0][call], usual[1][call]) || !equal(usual[0][call], others[0][call]);
  };
  if (!any_call(differs))
    return "no";
  others.push_back(run(Fill::Other));
  usual.push_back(run(Fill::Usual));
  others.push_back(run(Fill::Other));
  return any_call([&](size_t call) { return follows_the_fill(usual, others, call); }) ? "yes" : "unknown";
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

std::optional<bool> reads_unwritten_memory(ModuleFactory factory, std::shared_ptr<const Backend> backend,
                                           const CheckOptions &options, const Limits &limits) {
  const Job job = [&](Child &child) {
    child.confine(confinement_of(*backend));
    child.reply(depends_on_fill([&](Fill fill) { return run_over(fill, factory, *backend, options); }));
  };
  for (int attempt = 0; attempt < 5; ++attempt) {
    const JobEnd job_end = run_in_sandbox(job, limits);
    if (job_end.ending != Ending::Replied)
      return std::nullopt;
    if (job_end.reply != "unknown")
      return job_end.reply == "yes";
  }
  return std::nullopt;
}

} // namespace repro_minify
