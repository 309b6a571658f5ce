#include "repro_minify/check.h"

#include "backends/cannot_compile.h"
#include "check/ask_again.h"
#include "check/compare_runs.h"
#include "check/device_error.h"
#include "check/unwritten_memory.h"
#include "program/compute.h"
#include "support/no_answer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <system_error>

namespace repro_minify {
namespace {

RunOptions run_options(const Backend &backend, const CheckOptions &options) {
  return {.grad = options.grad,
          .state = !options.only_forward,
          .module = backend.runs_the_module(),
          .boxed = backend.boxed_call(),
          .operators = true};
}

/// `calls` calls of one instance, each with fresh arguments. Programs that keep state answer differently each time.
/// Memory that nobody has written holds `fill` in the first call, something else in the second, and so on in turn.
std::vector<Observed> run_eager(const Subject &subject, const Backend &backend, const CheckOptions &options, int calls,
                                bool double_precision = false, Fill fill = Fill::Usual) {
  RunSettings settings = run_settings(backend, options);
  if (double_precision)
    settings.autocast = false; // a reference that autocast rounds to bfloat16 is none
  const RunScope scope(settings);
  Instance instance =
      subject({.requires_grad = options.grad, .double_precision = double_precision, .device = options.device});
  const auto forward = [&](std::vector<c10::IValue> arguments) {
    return instance.module.forward(std::move(arguments));
  };
  std::vector<Observed> runs;
  for (int call = 0; call < calls; ++call, fill = other(fill)) {
    fill_unwritten_memory(fill);
    scope.begin_run();
    runs.push_back(run_program(forward, instance, run_options(backend, options)));
    scope.end_run();
  }
  return runs;
}

Verdict unresolved(std::string message) {
  Verdict verdict;
  verdict.message = std::move(message);
  return verdict;
}

/// Of eager with itself: a NaN twice is no difference, whatever the rule says of it.
CompareOptions reproducibility(CompareOptions options) {
  options.equal_nan = true;
  return options;
}

/// Whether eager answers the same once memory that nobody has written holds the same.
bool unwritten_memory_is_to_blame(const Subject &subject, const Backend &backend, const CheckOptions &options) {
  const auto once = run_eager(subject, backend, options, 1), again = run_eager(subject, backend, options, 1);
  Verdict comparison;
  return compare_runs(once[0], again[0], nullptr, reproducibility(options.compare), comparison);
}

Verdict eager_differs(const Subject &subject, const Backend &backend, const CheckOptions &options,
                      const Verdict &comparison) {
  const bool blame = unwritten_memory_is_to_blame(subject, backend, options);
  Verdict verdict = unresolved("two eager runs differ" +
                               std::string(blame ? ", since it reads memory that nobody has written: " : ": ") +
                               worst_message(comparison));
  verdict.eager_failed = true;
  return verdict;
}

/// The eager results to compare each call with: one where every call gives the same, else one for each call. Sets the
/// verdict when eager is not reproducible.
std::vector<Observed> eager_results(const Subject &subject, const Backend &backend, const CheckOptions &options,
                                    Verdict &verdict) {
  if (options.mode == CheckMode::Run)
    return run_eager(subject, backend, options, 1);
  auto first = run_eager(subject, backend, options, 2);
  Verdict comparison;
  CompareOptions everything =
      reproducibility(options.compare); // a counter is state, whether or not it is looked at afterwards
  everything.ignore_non_fp = false;
  if (same_bits(first[0], first[1]) || compare_runs(first[0], first[1], nullptr, everything, comparison)) {
    first.pop_back();
    return first;
  }
  // The program keeps state, or nobody can say what it will answer: a fresh instance tells.
  auto again = run_eager(subject, backend, options, std::max(2, options.calls), false, other(Fill::Usual));
  for (size_t call = 0; call < first.size(); ++call)
    if (!compare_runs(first[call], again[call], nullptr, reproducibility(options.compare), comparison)) {
      verdict = eager_differs(subject, backend, options, comparison);
      break;
    }
  return again;
}

/// A program that is random once in a while looks like a backend that is wrong once in a while: before a failure is
/// believed, eager has to answer the same `eager_calls` times.
void doubt_failure(const Subject &subject, const Backend &backend, const CheckOptions &options,
                   const std::vector<Observed> &eager, Verdict &verdict) {
  Verdict comparison;
  // A program that keeps state is made anew for each row of calls.
  const int at_a_time = eager.size() > 1 ? static_cast<int>(eager.size()) : 8;
  for (int calls = 2; calls < options.eager_calls; calls += at_a_time) {
    const auto again = run_eager(subject, backend, options, at_a_time);
    for (size_t call = 0; call < again.size(); ++call)
      if (!compare_runs(eager[std::min(call, eager.size() - 1)], again[call], nullptr, reproducibility(options.compare),
                        comparison)) {
        verdict = eager_differs(subject, backend, options, comparison);
        return;
      }
  }
}

/// The message of whatever is being handled.
std::string current_message() {
  try {
    throw;
  } catch (const c10::Error &error) {
    return error.what_without_backtrace();
  } catch (const std::exception &error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// Empty where it cannot be made: then, as in PyTorch, the comparison is against eager alone.
std::vector<Observed> fp64_references(const Subject &subject, const Backend &backend, const CheckOptions &options,
                                      int calls, std::string &problem) {
  try {
    return run_eager(subject, backend, options, calls, /*double_precision=*/true);
  } catch (const std::exception &) {
    problem = first_sentence(current_message());
    return {};
  }
}

void run_optimised(const Subject &subject, const Backend &backend, const CheckOptions &options,
                   const std::vector<Observed> &eager, const std::vector<Observed> &fp64, Verdict &verdict) {
  fill_unwritten_memory(Fill::Usual);
  const RunScope scope(run_settings(backend, options));
  Instance instance = subject({.requires_grad = options.grad, .device = options.device});
  const Compiled compiled = backend.compile(instance.module);
  const int calls = backend.needs_several_calls() ? options.calls : 1;
  for (int call = 1; call <= calls; ++call) {
    scope.begin_run();
    const Observed observed = run_program(compiled, instance, run_options(backend, options));
    scope.end_run();
    verdict.coverage = backend.coverage();
    if (options.mode == CheckMode::Run)
      continue;
    const size_t which = std::min(static_cast<size_t>(call), eager.size()) - 1;
    verdict.rewritten = rewritten_operators(eager[which].operators, observed.operators);
    if (!compare_runs(eager[which], observed, which < fp64.size() ? &fp64[which] : nullptr, options.compare, verdict)) {
      verdict.outcome = Verdict::Outcome::Fail;
      verdict.failing_call = call;
      verdict.message = worst_message(verdict);
      return;
    }
  }
  verdict.outcome = Verdict::Outcome::Pass;
}

/// What an exception in the optimised run is.
Signature exception_signature(const std::string &message, c10::Device device) {
  if (is_out_of_memory(message))
    return {FailureKind::Memory, "", ""};
  // After some errors the device answers nothing else any more: the process is as good as dead.
  if (device_is_lost(message, device))
    return {FailureKind::Crash, "", normalise_message(message)};
  return {FailureKind::Exception, "", normalise_message(message)};
}

/// The Verdict on an exception in the optimised run; `so_far`: what was known before.
Verdict raised(const Verdict &so_far, const std::string &message, c10::Device device) {
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Fail;
  verdict.signatures = {exception_signature(message, device)};
  verdict.message = first_sentence(message);
  verdict.has_fp64_reference = so_far.has_fp64_reference;
  verdict.no_fp64_because = so_far.no_fp64_because;
  verdict.stateful = so_far.stateful;
  return verdict;
}

Verdict without_answer(const std::string &why) {
  Verdict verdict = unresolved(why);
  verdict.no_answer = true;
  return verdict;
}

/// No thread, no process, no room: nobody's fault but the moment's.
bool is_want_of_means(const std::error_code &code) {
  return code == std::errc::resource_unavailable_try_again || code == std::errc::not_enough_memory ||
         code == std::errc::no_space_on_device || code == std::errc::too_many_files_open ||
         code == std::errc::too_many_files_open_in_system;
}

} // namespace

RunSettings run_settings(const Backend &backend, const CheckOptions &options) {
  RunSettings settings = options;
  settings.autocast |= backend.autocast();
  return settings;
}

Verdict check_here(const Subject &subject, const Backend &backend, const CheckOptions &options, Child &child) {
  child.stage("eager");
  Verdict verdict;
  std::vector<Observed> eager;
  try {
    eager = eager_results(subject, backend, options, verdict);
    if (verdict.eager_failed)
      return verdict;
  } catch (const std::bad_alloc &) {
    throw; // the sandbox knows whether its limit was hit
  } catch (...) {
    verdict = unresolved("eager itself raises: " + first_sentence(current_message()));
    verdict.eager_raises = true;
    return verdict;
  }
  std::vector<Observed> fp64;
  if (options.mode == CheckMode::Accuracy) {
    child.stage("fp64 reference");
    fp64 = fp64_references(subject, backend, options, static_cast<int>(eager.size()), verdict.no_fp64_because);
    if (fp64.empty() && options.require_fp64)
      return unresolved("--require-fp64, but there is no fp64 reference: " + verdict.no_fp64_because);
  }
  verdict.has_fp64_reference = !fp64.empty();
  verdict.stateful = eager.size() > 1;
  child.stage("optimised");
  try {
    run_optimised(subject, backend, options, eager, fp64, verdict);
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const NoAnswer &error) {
    return without_answer(error.what());
  } catch (const std::system_error &error) {
    if (is_want_of_means(error.code()))
      return without_answer(error.what());
    return raised(verdict, error.what(), options.device);
  } catch (const CannotCompile &error) {
    return unresolved(backend.name() + " cannot take this program: " + error.what());
  } catch (const UserError &error) {
    return unresolved(error.what()); // not for this backend: no failure of it
  } catch (...) {
    return raised(verdict, current_message(), options.device);
  }
  if (verdict.outcome == Verdict::Outcome::Fail) {
    child.stage("eager");
    doubt_failure(subject, backend, options, eager, verdict);
  }
  return verdict;
}

Verdict check_repeatedly(const std::function<Verdict()> &once, const std::function<bool(const Verdict &)> &wanted,
                         const Repetition &repetition) {
  int failed = 0, others = 0;
  for (;;) {
    Verdict verdict = once();
    ++(wanted(verdict) ? failed : others);
    // A run in which eager itself is at fault makes the others worthless.
    if (failed >= repetition.need || others > repetition.runs - repetition.need ||
        verdict.outcome == Verdict::Outcome::Unresolved)
      return verdict;
  }
}

Subject subject_of(std::shared_ptr<const Program> program) {
  return [program = std::move(program)](const InstantiateOptions &options) { return instantiate(*program, options); };
}

Job check_job(Subject subject, std::shared_ptr<const Backend> backend, CheckOptions options) {
  return [subject = std::move(subject), backend = std::move(backend), options](Child &child) {
    child.reply(to_json(check_here(subject, *backend, options, child)));
  };
}

Verdict check(Subject subject, std::shared_ptr<const Backend> backend, const CheckOptions &options,
              const Limits &limits) {
  const Job job = check_job(std::move(subject), backend, options);
  return ask_until_answered([&] { return verdict_of(run_in_sandbox(job, limits)); }, [&] { backend->revive(); });
}

} // namespace repro_minify
