#include "backends/pass_gate.h"

#include <cstring>
#include <map>
#include <optional>
#include <set>

namespace repro_minify {

class PassGate::State {
public:
  State(const Pipeline &pipeline, const std::vector<std::string> &steps)
      : pipeline_(pipeline), names_(step_names(pipeline)), allowed_(steps.begin(), steps.end()) {}

  bool allows(const std::string &name) const { return allowed_.count(name) != 0; }

  bool enter(const char *function) {
    if (depth_ == 0)
      follow_mark(function);
    const auto step = depth_ == 0 ? find_next(function) : depth_ == 1 ? find_inside(function) : std::nullopt;
    if (depth_ == 0)
      outer_ = step;
    ++depth_;
    if (!step) {
      if (depth_ == 1 && !is_mark(function))
        unexpected.emplace_back(function);
      return true;
    }
    reached.push_back(names_[*step]);
    return allows(names_[*step]);
  }

  void leave() { --depth_; }

  std::vector<std::string> reached, unexpected;

private:
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

  std::optional<size_t> find_inside(const char *function) const {
    if (!outer_)
      return std::nullopt;
    for (size_t step = *outer_ + 1; step < pipeline_.steps.size() && pipeline_.steps[step].inside; ++step)
      if (is(step, function))
        return step;
    return std::nullopt;
  }

  Pipeline pipeline_;
  std::vector<std::string> names_;
  std::set<std::string> allowed_;
  Position position_;
  std::optional<Position> outside_; ///< where the pipeline is that has started another
  std::optional<size_t> outer_;     ///< the step that is running
  int depth_ = 0;
};

namespace {

/// Not the thread's: autograd compiles its half of a program in threads of its own.
PassGate::State *active = nullptr;

} // namespace

std::vector<std::string> step_names(const Pipeline &pipeline) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  const PipelineStep *outer = nullptr;
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

PassGate::PassGate(const Pipeline &pipeline, const std::vector<std::string> &steps)
    : state_(std::make_unique<State>(pipeline, steps)) {
  active = state_.get();
}

PassGate::~PassGate() {
  active = nullptr;
}

const std::vector<std::string> &PassGate::reached() const {
  return state_->reached;
}

const std::vector<std::string> &PassGate::unexpected() const {
  return state_->unexpected;
}

bool step_runs(const std::string &name) {
  return !active || active->allows(name);
}

PassCall::PassCall(const char *function) {
  if (active)
    runs_ = active->enter(function);
}

PassCall::~PassCall() {
  if (active)
    active->leave();
}

} // namespace repro_minify
