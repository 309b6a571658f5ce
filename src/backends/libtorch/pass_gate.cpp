#include "backends/libtorch/pass_gate.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace repro_minify {

class PassGate::State {
public:
  State(const Pipeline &pipeline, const std::vector<std::string> &steps)
      : pipeline_(pipeline), names_(step_names(pipeline)), allowed_(steps.begin(), steps.end()) {}

  bool allows(const std::string &name) const { return allowed_.count(name) != 0; }

  bool enter(const char *function) {
    const std::lock_guard lock(mutex_);
    Calls &calls = calls_[std::this_thread::get_id()];
    if (calls.depth == 0)
      follow_mark(function);
    const auto step = calls.depth == 0   ? find_next(function)
                      : calls.depth == 1 ? find_inside(calls, function)
                                         : std::nullopt;
    if (calls.depth == 0)
      calls.outer = step;
    ++calls.depth;
    if (!step) {
      if (calls.depth == 1 && !is_mark(function))
        unexpected_.emplace_back(function);
      return true;
    }
    reached_.push_back(names_[*step]);
    return allows(names_[*step]);
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    --calls_[std::this_thread::get_id()].depth;
  }

  std::vector<std::string> reached() const {
    const std::lock_guard lock(mutex_);
    return reached_;
  }
  std::vector<std::string> unexpected() const {
    const std::lock_guard lock(mutex_);
    return unexpected_;
  }

private:
  /// The calls that one thread is in the middle of.
  struct Calls {
    int depth = 0;
    std::optional<size_t> outer; ///< the step that is running
  };
  struct Position {
    int phase = 0;
    size_t next = 0;
  };

  bool is(size_t step, const char *function) const {
    return std::strcmp(pipeline_.steps[step].function, function) == 0;
  }

  bool is_mark(const char *function) const {
    for (const auto &mark : pipeline_.marks)
      if (std::strcmp(mark.function, function) == 0)
        return true;
    return false;
  }

  void follow_mark(const char *function) {
    for (const auto &mark : pipeline_.marks) {
      if (std::strcmp(mark.function, function) != 0)
        continue;
      if (mark.meaning == PhaseMark::End) {
        position_ = outside_.value_or(position_);
        outside_.reset();
      } else {
        if (position_.phase > mark.phase && !outside_)
          outside_ = position_;
        position_ = {mark.phase, 0};
      }
    }
  }

  /// From where the pipeline is to the end of the phase, then from the phase's beginning.
  std::optional<size_t> find_next(const char *function) {
    for (const size_t from : {position_.next, size_t{0}})
      for (size_t step = from; step < pipeline_.steps.size(); ++step)
        if (pipeline_.steps[step].phase == position_.phase && !pipeline_.steps[step].inside && is(step, function)) {
          position_.next = step + 1;
          return step;
        }
    return std::nullopt;
  }

  std::optional<size_t> find_inside(const Calls &calls, const char *function) const {
    if (!calls.outer)
      return std::nullopt;
    for (size_t step = *calls.outer + 1; step < pipeline_.steps.size() && pipeline_.steps[step].inside; ++step)
      if (is(step, function))
        return step;
    return std::nullopt;
  }

  const Pipeline pipeline_;
  const std::vector<std::string> names_;
  const std::set<std::string> allowed_;
  mutable std::mutex mutex_; ///< guards what follows
  std::vector<std::string> reached_, unexpected_;
  std::map<std::thread::id, Calls> calls_;
  Position position_;
  std::optional<Position> outside_; ///< where the pipeline is that has started another
};

namespace {

/// The gate's state for all threads: autograd and the fork operator compile in threads of their own. A call holds on to
/// the state, which may thus outlive its gate.
class Active {
public:
  void set(std::shared_ptr<PassGate::State> state) {
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
  }
  std::shared_ptr<PassGate::State> get() {
    const std::lock_guard lock(mutex_);
    return state_;
  }

private:
  std::mutex mutex_;
  std::shared_ptr<PassGate::State> state_;
} active;

} // namespace

std::vector<std::string> step_names(const Pipeline &pipeline) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  const Pipeline::Step *outer = nullptr;
  std::string outer_name;
  for (const auto &step : pipeline.steps) {
    if (step.inside) {
      // Most begin with the name of the pass that they are a part of.
      const size_t known = std::strlen(outer->function);
      const bool repeats = std::strncmp(step.function, outer->function, known) == 0;
      names.push_back(outer_name + "/" + (repeats ? step.function + known : step.function));
      continue;
    }
    const int times = ++seen[step.function];
    outer = &step;
    outer_name = times == 1 ? step.function : step.function + ("#" + std::to_string(times));
    names.push_back(outer_name);
  }
  return names;
}

std::string function_of_step(const Pipeline &pipeline, const std::string &name) {
  const auto names = step_names(pipeline);
  return pipeline.steps.at(static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin())).function;
}

PassGate::PassGate(const Pipeline &pipeline, const std::vector<std::string> &steps)
    : state_(std::make_shared<State>(pipeline, steps)) {
  active.set(state_);
}

PassGate::~PassGate() {
  active.set(nullptr);
}

std::vector<std::string> PassGate::reached() const {
  return state_->reached();
}

std::vector<std::string> PassGate::unexpected() const {
  return state_->unexpected();
}

bool step_runs(const std::string &name) {
  const auto state = active.get();
  return !state || state->allows(name);
}

PassCall::PassCall(const char *function) : state_(active.get()) {
  if (state_)
    runs_ = state_->enter(function);
}

PassCall::~PassCall() {
  if (state_)
    state_->leave();
}

} // namespace repro_minify
