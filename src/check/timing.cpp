// How fast either side is. It is apart from the Check, as a time never changes a Verdict.
#include "check/run_program.h"
#include "program/compute.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/check.h"

#include <algorithm>
#include <chrono>

namespace repro_minify {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Times the calls of one side.
class Stopwatch {
public:
  Stopwatch(const RunScope &scope, const Instance &instance, RunOptions how, c10::Device device)
      : scope_(scope), instance_(instance), how_(how), on_cpu_(device.is_cpu()) {
    how_.state = false; // copying buffers is not the program's work
  }

  /// Runs once and returns the seconds that took: with gradients, and on a device that has to be waited for, of all
  /// that a run does; else of the call alone, without the copies of its arguments and results, which take longer than
  /// many a program.
  double once(const Compiled &call) const {
    double of_call = 0;
    const Compiled timed = [&](std::vector<c10::IValue> arguments) {
      const auto start = Clock::now();
      c10::IValue result = call(std::move(arguments));
      of_call = seconds_since(start);
      return result;
    };
    scope_.begin_run();
    const auto start = Clock::now();
    run_program(timed, instance_, how_);
    scope_.end_run(); // synchronises
    return how_.grad || !on_cpu_ ? seconds_since(start) : of_call;
  }

  /// Returns the median seconds of the warm calls, and how many there were: at most `calls`, within two seconds.
  std::pair<double, int> median(const Compiled &call, int warm_up, int calls) const {
    for (int i = 0; i < warm_up; ++i)
      once(call);
    std::vector<double> times;
    const auto start = Clock::now();
    while (static_cast<int>(times.size()) < calls && (times.empty() || seconds_since(start) < 2))
      times.push_back(once(call));
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return {times[times.size() / 2], static_cast<int>(times.size())};
  }

private:
  const RunScope &scope_;
  const Instance &instance_;
  RunOptions how_;
  bool on_cpu_;
};

c10::IValue measure(const ModuleFactory &factory, const Backend &backend, const CheckOptions &options, int calls) {
  const InstantiateOptions how{.requires_grad = options.grad, .device = options.device};
  std::pair<double, int> eager, optimised;
  double compile_seconds = 0;
  {
    const RunScope scope(run_settings(backend, options));
    Instance instance = factory(how);
    const Stopwatch stopwatch(scope, instance, {.grad = options.grad}, options.device);
    eager = stopwatch.median(
        [&](std::vector<c10::IValue> arguments) { return instance.module.forward(std::move(arguments)); }, 1, calls);
  }
  {
    const RunScope scope(run_settings(backend, options));
    Instance instance = factory(how);
    const Stopwatch stopwatch(scope, instance, {.grad = options.grad, .boxed = backend.traits().boxed_call},
                              options.device);
    const auto start = Clock::now();
    const Compiled compiled = backend.compile(instance.module);
    stopwatch.once(compiled);
    compile_seconds = seconds_since(start);
    optimised = stopwatch.median(compiled, std::max(0, options.calls - 1), calls);
  }
  return c10::ivalue::Tuple::create(
      {static_cast<int64_t>(std::min(eager.second, optimised.second)), eager.first, optimised.first, compile_seconds});
}

} // namespace

std::optional<Timing> measure_timing(ModuleFactory factory, std::shared_ptr<const Backend> backend,
                                     const CheckOptions &options, int calls, const Limits &limits) {
  try {
    const auto tuple = compute_in_child(
        [&](Child &child) {
          child.confine(confinement_of(*backend));
          return measure(factory, *backend, options, calls);
        },
        limits, Confined::ByTheWork);
    const auto &result = tuple.toTupleRef().elements();
    return Timing{static_cast<int>(result[0].toInt()), result[1].toDouble(), result[2].toDouble(),
                  result[3].toDouble()};
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

} // namespace repro_minify
