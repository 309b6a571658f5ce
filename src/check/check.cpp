#include "repro_minify/check.h"

#include "backends/cannot_compile.h"
#include "check/compare_runs.h"
#include "check/device_error.h"
#include "program/compute.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <sstream>

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
std::vector<Observed> run_eager(const Subject &subject, const Backend &backend, const CheckOptions &options, int calls,
                                bool double_precision = false) {
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
  for (int call = 0; call < calls; ++call) {
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

/// The eager results to compare each call with: one where every call gives the same, else one for each call. Sets the
/// verdict when eager is not reproducible.
std::vector<Observed> eager_results(const Subject &subject, const Backend &backend, const CheckOptions &options,
                                    Verdict &verdict) {
  if (options.mode == CheckMode::Run)
    return run_eager(subject, backend, options, 1);
  auto first = run_eager(subject, backend, options, 2);
  Verdict comparison;
  CompareOptions everything = options.compare; // a counter is state, whether or not it is looked at afterwards
  everything.ignore_non_fp = false;
  if ((everything.equal_nan && same_bits(first[0], first[1])) ||
      compare_runs(first[0], first[1], nullptr, everything, comparison)) {
    first.pop_back();
    return first;
  }
  // The program keeps state, or nobody can say what it will answer: a fresh instance tells.
  auto again = run_eager(subject, backend, options, std::max(2, options.calls));
  for (size_t call = 0; call < first.size(); ++call)
    if (!compare_runs(first[call], again[call], nullptr, options.compare, comparison)) {
      verdict = unresolved("two eager runs differ: " + worst_message(comparison));
      verdict.eager_failed = true;
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
      if (!compare_runs(eager[std::min(call, eager.size() - 1)], again[call], nullptr, options.compare, comparison)) {
        verdict = unresolved("two eager runs differ: " + worst_message(comparison));
        verdict.eager_failed = true;
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
  const RunScope scope(run_settings(backend, options));
  Instance instance = subject({.requires_grad = options.grad, .device = options.device});
  const Compiled compiled = backend.compile(instance.module);
  const int calls = backend.needs_several_calls() ? options.calls : 1;
  for (int call = 1; call <= calls; ++call) {
    scope.begin_run();
    const Observed observed = run_program(compiled, instance, run_options(backend, options));
    scope.end_run();
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

} // namespace

RunSettings run_settings(const Backend &backend, const CheckOptions &options) {
  RunSettings settings = options;
  settings.autocast |= backend.autocast();
  return settings;
}

std::string fingerprint(const CheckOptions &options) {
  const auto &compare = options.compare;
  std::ostringstream text;
  text << options.device << ' ' << options.grad << ' ' << options.seed << ' ' << options.threads << ' '
       << options.autocast << ' ' << options.autocast_dtype << ' ' << to_string(options.determinism) << ' '
       << options.tf32 << ' ' << static_cast<int>(options.mode) << ' ' << options.calls << ' ' << options.eager_calls
       << ' ' << options.only_forward << ' ' << options.require_fp64 << ' ' << static_cast<int>(compare.rule) << ' '
       << compare.cos_similarity << ' ' << compare.tol << ' ' << compare.equal_nan << ' ' << compare.exact_dtype << ' '
       << compare.ignore_non_fp << ' ' << compare.use_larger_multiplier_for_smaller_tensor << ' '
       << compare.force_max_multiplier << ' ' << compare.use_iou_for_bool << ' ' << compare.iou_threshold;
  return text.str();
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
  } catch (const CannotCompile &error) {
    return unresolved(backend.name() + " cannot take this program: " + error.what());
  } catch (const UserError &error) {
    return unresolved(error.what()); // not for this backend: no failure of it
  } catch (...) {
    const std::string message = current_message();
    Verdict raised;
    raised.outcome = Verdict::Outcome::Fail;
    raised.signatures = {exception_signature(message, options.device)};
    raised.message = first_sentence(message);
    raised.has_fp64_reference = verdict.has_fp64_reference;
    raised.no_fp64_because = verdict.no_fp64_because;
    raised.stateful = verdict.stateful;
    return raised;
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
  return verdict_of(run_in_sandbox(check_job(std::move(subject), std::move(backend), options), limits));
}

} // namespace repro_minify
