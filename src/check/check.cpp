#include "repro_minify/check.h"

#include "backends/backend_parts.h"
#include "check/compare_runs.h"
#include "check/eager_side.h"
#include "check/initial_state.h"
#include "check/unresolved.h"
#include "core/no_answer.h"
#include "program/compute.h"
#include "program/python_call.h"
#include "repro_minify/backend_parts.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace repro_minify {
namespace {

/// Parameters that became constants have no gradient, in words.
void say_what_is_left_out(const CheckContext &context, const Observed &eager, Verdict &verdict) {
  if (eager.left_out == 0)
    return;
  verdict.left_out = "the gradients of " + std::to_string(eager.left_out) + " parameter" +
                     (eager.left_out == 1 ? ", which is a constant" : "s, which are constants") + " under " +
                     context.backend.name();
  verdict.no_gradient_left = eager.gradients.empty();
}

/// Drops the gradients of both sides where the optimised run gives none because its backend is for inference, which is
/// by design; the other results are compared all the same.
void leave_out_gradients(const CheckContext &context, Observed &eager, Observed &observed, Verdict &verdict) {
  if (context.backend.traits().gradients != Gradients::IfItHasAny || !eager.has_way_back || observed.has_way_back)
    return;
  eager.gradients.clear();
  eager.gradient_names.clear();
  eager.gradient_arguments.clear();
  observed.gradients.clear();
  observed.gradient_names.clear();
  observed.gradient_arguments.clear();
  verdict.left_out = "all gradients, as " + context.backend.name() + " is for inference and gives none";
  verdict.no_gradient_left = true;
}

void run_optimised(const CheckContext &context, EagerSide &eager_side, Fp64Reference &fp64, Child &child,
                   Verdict &verdict) {
  std::vector<Observed> &eager = eager_side.calls;
  const CheckOptions &options = context.options;
  const auto enter = [&] {
    child.stage("optimised");
    allow_optimised(child, options.patience, eager_side.took);
    fill_unwritten_memory(Fill::Usual);
  };
  enter();
  const RunScope scope(run_settings(context.backend, options));
  Instance instance = context.factory(context.instance_options());
  RunOptions how = context.run_options();
  std::optional<InitialState> before;
  if (how.state)
    before.emplace(instance, how.module);
  how.unchanged = [&](std::size_t place, const c10::IValue &value) { return before->still_holds(place, value); };
  if (calls_python(*instance.module.get_method("forward").graph()) && !context.backend.parts().repro_in_python)
    throw CannotCompile("its calls are functions of Python");
  const Compiled compiled = context.backend.compile(instance.module);
  const int calls = context.backend.traits().needs_several_calls ? options.calls : 1;
  for (int call = 1; call <= calls; ++call) {
    scope.begin_run();
    Observed observed = run_program(compiled, instance, how);
    scope.end_run();
    if (const PartialCompilation *partial = context.backend.parts().partial)
      verdict.coverage = partial->coverage();
    if (options.mode == CheckMode::Run)
      continue;
    const size_t which = std::min(static_cast<size_t>(call), eager.size()) - 1;
    leave_out_gradients(context, eager[which], observed, verdict);
    verdict.rewritten = rewritten_operators(eager[which].operators, observed.operators);
    if (!fp64.is_made()) {
      if (float64_has_no_say(eager[which], observed, options.compare) &&
          context.compare(eager[which], observed, nullptr, options.compare, verdict))
        continue;
      fp64.make(child, verdict);
      enter();
    }
    if (!context.compare(eager[which], observed, fp64.of_call(which), options.compare, verdict)) {
      verdict.outcome = Verdict::Outcome::Fail;
      verdict.failing_call = call;
      verdict.message = worst_message(verdict);
      return;
    }
  }
  verdict.outcome = Verdict::Outcome::Pass;
}

/// Returns the Signature of an exception in the optimised run.
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
  verdict.left_out = so_far.left_out;
  verdict.no_gradient_left = so_far.no_gradient_left;
  return verdict;
}

/// Runs `optimised` and returns the Verdict on what it throws; nothing when it comes to its end. Throws again what the
/// sandbox has to judge: that the memory limit was met. `so_far`: what was known before.
std::optional<Verdict> thrown_by(const CheckContext &context, const Verdict &so_far,
                                 const std::function<void()> &optimised) {
  try {
    optimised();
  } catch (const UserError &error) {
    return unresolved(error.what()); // not for this backend: no failure of it
  } catch (...) {
    const auto verdict = not_of_the_program(context.backend, context.options.device);
    return verdict ? verdict : raised(so_far, current_message(), context.options.device);
  }
  return std::nullopt;
}

} // namespace

RunSettings run_settings(const Backend &backend, const CheckOptions &options) {
  RunSettings settings = options;
  settings.autocast |= backend.traits().autocast;
  return settings;
}

Verdict check_here(const ModuleFactory &factory, const Backend &backend, const CheckOptions &options, Child &child,
                   const std::string &kept_eager) {
  const CheckContext context{factory, backend, options};
  child.stage("eager");
  allow_eager(child, options.patience);
  EagerSide eager(context, kept_eager);
  if (const auto trouble = eager.run())
    return *trouble;
  Verdict verdict;
  Fp64Reference fp64(context, eager);
  if (options.mode == CheckMode::Accuracy && (options.require_fp64 || options.measure_always)) {
    if (const auto thrown = thrown_by(context, verdict, [&] { fp64.make(child, verdict); }))
      return *thrown;
    if (!verdict.has_fp64_reference && options.require_fp64)
      return unresolved("--require-fp64, but there is no fp64 reference: " + verdict.no_fp64_because);
  }
  verdict.stateful = eager.calls.size() > 1;
  say_what_is_left_out(context, eager.calls.front(), verdict);
  if (const auto thrown = thrown_by(context, verdict, [&] { run_optimised(context, eager, fp64, child, verdict); }))
    return *thrown;
  if (verdict.outcome == Verdict::Outcome::Fail) {
    child.stage("eager");
    allow_eager(child, options.patience);
    doubt_failure(context, eager.calls, verdict);
  }
  if (verdict.outcome != Verdict::Outcome::Fail)
    return verdict;
  bool ties = false;
  if (const auto thrown =
          thrown_by(context, verdict, [&] { ties = hangs_on_equal_elements(context, verdict, eager.took, child); }))
    return *thrown;
  verdict.signatures.front().at_equal_elements = ties;
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

ModuleFactory factory_of(std::shared_ptr<const Program> program) {
  return [program = std::move(program)](const InstantiateOptions &options) { return instantiate(*program, options); };
}

Job check_job(ModuleFactory factory, std::shared_ptr<const Backend> backend, CheckOptions options,
              std::string kept_eager) {
  return [factory = std::move(factory), backend = std::move(backend), options,
          kept = std::move(kept_eager)](Child &child) {
    try {
      child.confine(confinement_of(*backend));
    } catch (const std::system_error &) { // the kernel has no memory or no descriptor for it
      if (const std::string why = why_no_answer(options.device); !why.empty())
        return child.reply(to_json(without_answer(why)));
      throw;
    }
    child.reply(to_json(check_here(factory, *backend, options, child, kept)));
  };
}

Verdict check(ModuleFactory factory, std::shared_ptr<const Backend> backend, const CheckOptions &options,
              const Limits &limits) {
  const Job job = check_job(std::move(factory), backend, options);
  return ask_until_answered([&] { return verdict_of(run_in_sandbox(job, limits)); }, [&] { revive_backend(*backend); },
                            limits.interrupted);
}

} // namespace repro_minify
