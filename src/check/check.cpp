#include "repro_minify/check.h"

#include "check/run_program.h"
#include "program/compute.h"
#include "program/eager_settings.h"
#include "program/values.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <chrono>

namespace repro_minify {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

EagerOptions eager_options(const Backend &backend, const CheckOptions &options) {
  return {.grad = options.grad, .seed = options.seed, .autocast = backend.autocast(), .threads = options.threads};
}

/// `calls` calls of one instance, each with fresh arguments. Programs that keep state answer differently each time.
std::vector<Observed> run_eager(const Subject &subject, const Backend &backend, const CheckOptions &options, int calls,
                                bool double_precision, double *seconds = nullptr) {
  const EagerSettings settings(eager_options(backend, options));
  Instance instance = subject({.requires_grad = options.grad, .double_precision = double_precision});
  if (double_precision)
    set_cpu_autocast(false); // a reference that autocast rounds to bfloat16 is none
  const auto forward = [&](std::vector<c10::IValue> arguments) {
    return instance.module.forward(std::move(arguments));
  };
  std::vector<Observed> runs;
  for (int call = 0; call < calls; ++call) {
    at::manual_seed(options.seed);
    const auto start = Clock::now();
    runs.push_back(run_program(forward, instance, options.grad, backend.runs_the_module()));
    if (seconds)
      *seconds = seconds_since(start);
  }
  return runs;
}

/// Compares one aspect of two runs; adds the Signatures it shows.
bool compare_lists(const std::string &where, const std::vector<std::string> &names, const std::vector<c10::IValue> &ref,
                   const std::vector<c10::IValue> &res, const std::vector<c10::IValue> *fp64,
                   const CompareOptions &options, std::vector<LeafReport> &leaves, std::vector<Signature> &signatures) {
  bool all = true;
  for (size_t i = 0; i < ref.size(); ++i) {
    const size_t first = leaves.size();
    const std::optional<c10::IValue> reference =
        fp64 && i < fp64->size() ? std::optional<c10::IValue>((*fp64)[i]) : std::nullopt;
    all &= same(ref[i], i < res.size() ? res[i] : c10::IValue(), reference, options, &leaves);
    for (size_t leaf = first; leaf < leaves.size(); ++leaf) {
      leaves[leaf].path = names.empty() ? leaves[leaf].path : names[i] + leaves[leaf].path;
      for (FailureKind kind : leaves[leaf].kinds) {
        if (where == "gradient" && (kind == FailureKind::Accuracy || kind == FailureKind::Structure))
          kind = FailureKind::Gradient;
        const Signature signature{kind, where, ""};
        if (std::find(signatures.begin(), signatures.end(), signature) == signatures.end())
          signatures.push_back(signature);
      }
    }
  }
  return all;
}

/// Where a failure shows before what it is: an output is more telling than a gradient, a gradient than a buffer.
void order_signatures(std::vector<Signature> &signatures) {
  const auto rank = [](const Signature &s) { return s.where == "output" ? 0 : s.where == "gradient" ? 1 : 2; };
  std::stable_sort(signatures.begin(), signatures.end(), [&](const Signature &a, const Signature &b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.kind < b.kind;
  });
}

std::string worst_message(const Verdict &verdict) {
  for (const auto *leaves : {&verdict.outputs, &verdict.gradients, &verdict.state})
    for (const auto &leaf : *leaves)
      if (!leaf.same)
        return (leaves == &verdict.gradients ? "gradient of " : "") + leaf.message;
  return "";
}

/// Fills `verdict` from one comparison; true when everything is the same.
bool compare_runs(const Observed &ref, const Observed &res, const Observed *fp64, const CompareOptions &options,
                  Verdict &verdict) {
  verdict.outputs.clear();
  verdict.gradients.clear();
  verdict.state.clear();
  verdict.signatures.clear();
  const std::vector<c10::IValue> ref_output{ref.output}, res_output{res.output};
  const auto fp64_output = fp64 ? std::vector<c10::IValue>{fp64->output} : std::vector<c10::IValue>{};
  bool all = compare_lists("output", {}, ref_output, res_output, fp64 ? &fp64_output : nullptr, options,
                           verdict.outputs, verdict.signatures);
  all &= compare_lists("gradient", ref.gradient_names, ref.gradients, res.gradients, fp64 ? &fp64->gradients : nullptr,
                       options, verdict.gradients, verdict.signatures);
  all &= compare_lists("state", ref.state_names, ref.state, res.state, fp64 ? &fp64->state : nullptr, options,
                       verdict.state, verdict.signatures);
  order_signatures(verdict.signatures);
  return all;
}

Verdict unresolved(std::string message) {
  Verdict verdict;
  verdict.message = std::move(message);
  return verdict;
}

Verdict failed(Signature signature, std::string message) {
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Fail;
  verdict.signatures = {std::move(signature)};
  verdict.message = std::move(message);
  return verdict;
}

/// The eager results to compare each call with: one where every call gives the same, else one for each call. Sets the
/// verdict when eager is not reproducible.
std::vector<Observed> eager_results(const Subject &subject, const Backend &backend, const CheckOptions &options,
                                    Verdict &verdict) {
  auto first = run_eager(subject, backend, options, 2, false, &verdict.eager_seconds);
  Verdict comparison;
  if (compare_runs(first[0], first[1], nullptr, options.compare, comparison)) {
    first.pop_back();
    return first;
  }
  // The program keeps state, or nobody can say what it will answer: a fresh instance tells.
  auto again = run_eager(subject, backend, options, std::max(2, options.calls), false);
  for (size_t call = 0; call < first.size(); ++call)
    if (!compare_runs(first[call], again[call], nullptr, options.compare, comparison)) {
      verdict = unresolved("two eager runs differ: " + worst_message(comparison));
      verdict.eager_differs = true;
      break;
    }
  return again;
}

/// Empty where it cannot be made: then, as in PyTorch, the comparison is against eager alone.
std::vector<Observed> fp64_references(const Subject &subject, const Backend &backend, const CheckOptions &options,
                                      int calls) {
  try {
    return run_eager(subject, backend, options, calls, /*double_precision=*/true);
  } catch (const std::exception &) {
    return {};
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

void run_optimised(const Subject &subject, const Backend &backend, const CheckOptions &options,
                   const std::vector<Observed> &eager, const std::vector<Observed> &fp64, Verdict &verdict) {
  const EagerSettings settings(eager_options(backend, options));
  Instance instance = subject({.requires_grad = options.grad});
  at::manual_seed(options.seed);
  const Compiled compiled = backend.compile(instance.module);
  const int calls = backend.needs_several_calls() ? options.calls : 1;
  for (int call = 1; call <= calls; ++call) {
    at::manual_seed(options.seed);
    const auto start = Clock::now();
    const Observed observed = run_program(compiled, instance, options.grad, backend.runs_the_module());
    verdict.optimised_seconds = seconds_since(start);
    const size_t which = std::min(static_cast<size_t>(call), eager.size()) - 1;
    if (!compare_runs(eager[which], observed, which < fp64.size() ? &fp64[which] : nullptr, options.compare, verdict)) {
      verdict.outcome = Verdict::Outcome::Fail;
      verdict.failing_call = call;
      verdict.message = worst_message(verdict);
      return;
    }
  }
  verdict.outcome = Verdict::Outcome::Pass;
}

} // namespace

Verdict check_here(const Subject &subject, const Backend &backend, const CheckOptions &options, Child &child) {
  child.stage("eager");
  Verdict verdict;
  std::vector<Observed> eager;
  try {
    eager = eager_results(subject, backend, options, verdict);
    if (verdict.eager_differs)
      return verdict;
  } catch (...) {
    return unresolved("eager itself raises: " + first_sentence(current_message()));
  }
  child.stage("fp64 reference");
  const auto fp64 = fp64_references(subject, backend, options, static_cast<int>(eager.size()));
  verdict.has_fp64_reference = !fp64.empty();
  verdict.stateful = eager.size() > 1;
  child.stage("optimised");
  try {
    run_optimised(subject, backend, options, eager, fp64, verdict);
  } catch (const std::bad_alloc &) {
    throw; // the sandbox knows whether its limit was hit
  } catch (...) {
    const std::string message = current_message();
    if (message.find("not enough memory") != std::string::npos ||
        message.find("can't allocate memory") != std::string::npos)
      return failed({FailureKind::Memory, "", ""}, first_sentence(message));
    return failed({FailureKind::Exception, "", normalise_message(message)}, first_sentence(message));
  }
  return verdict;
}

Subject subject_of(std::shared_ptr<const Program> program) {
  return [program = std::move(program)](const InstantiateOptions &options) { return instantiate(*program, options); };
}

Job check_job(Subject subject, std::shared_ptr<const Backend> backend, CheckOptions options) {
  return [subject = std::move(subject), backend = std::move(backend), options](Child &child) {
    child.reply(to_json(check_here(subject, *backend, options, child)));
  };
}

Verdict verdict_of(const Outcome &outcome) {
  Verdict verdict;
  const bool in_backend = outcome.stage == "optimised";
  switch (outcome.ending) {
  case Ending::Replied:
    verdict = verdict_from_json(outcome.reply);
    break;
  case Ending::Crashed:
    verdict = in_backend ? failed({FailureKind::Crash, "", "signal " + std::to_string(outcome.signal)},
                                  "the optimised run ends with signal " + std::to_string(outcome.signal) + " (" +
                                      strsignal(outcome.signal) + ")")
                         : unresolved("eager itself crashes");
    break;
  case Ending::TimedOut:
    verdict = in_backend ? failed({FailureKind::Hang, "", ""}, "the optimised run did not end within the time limit")
                         : unresolved("eager itself did not end within the time limit");
    break;
  case Ending::OutOfMemory:
    verdict = in_backend ? failed({FailureKind::Memory, "", ""}, "the optimised run went past the memory limit")
                         : unresolved("eager itself went past the memory limit");
    break;
  case Ending::Exited:
    verdict = in_backend
                  ? failed({FailureKind::Crash, "", "exit"},
                           "the optimised run ended its process with exit code " + std::to_string(outcome.exit_code))
                  : unresolved("eager itself ended its process: " + outcome.message);
    break;
  case Ending::Threw:
    verdict = unresolved("the check itself failed: " + outcome.message);
    break;
  case Ending::Killed:
  case Ending::Cancelled:
    verdict = unresolved("the check's process was killed from outside");
    break;
  }
  verdict.wall_seconds = static_cast<double>(outcome.wall.count()) * 1e-6;
  return verdict;
}

Verdict check(Subject subject, std::shared_ptr<const Backend> backend, const CheckOptions &options,
              const Limits &limits) {
  return verdict_of(run_in_sandbox(check_job(std::move(subject), std::move(backend), options), limits));
}

} // namespace repro_minify
