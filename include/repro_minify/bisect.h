// The Bisection: which step of a backend is guilty?
#pragma once
#include "repro_minify/backend_parts.h"
#include "repro_minify/check.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

struct Bisection {
  /// One check of the model with some steps of the backend, and no others.
  struct Check {
    std::string what;         ///< "the first 12 steps", "all but Autocast"
    std::optional<int> steps; ///< how many ran; nothing where the backend's own bisector says what to leave out
    bool fails = false;
    bool unresolved = false; ///< the Verdict is: it says nothing for or against these steps
    std::string message;     ///< of the Verdict
  };
  std::vector<std::string> steps; ///< the backend's, in order
  /// The first step that makes the result wrong: with the steps before it alone the result is right. For a backend with
  /// a bisector of its own, a part and which application of it: "inductor/lowerings#4". Nothing when no step was found;
  /// then `message` says why.
  std::optional<std::string> guilty;
  std::string pass;               ///< that the guilty step runs, or its part: "inductor/lowerings"; empty without one
  StepKind kind = StepKind::Pass; ///< of the guilty step
  std::string name;    ///< the library's name for that application, "reinplace_inplaceable_ops"; may be empty
  std::string setting; ///< where the kind is Setting: that with which it is right, "layout_optimization=False"
  /// Earlier steps that the failure takes: the result is wrong with these and the guilty one alone, and right if one of
  /// them is missing.
  std::vector<std::string> needs;
  bool confirmed = false; ///< the result is right with all steps but the guilty one
  /// Where it is not: true if it is right without each step that runs the same pass. Nothing where there is no other.
  std::optional<bool> confirmed_each_time;
  /// True if the result is right once PyTorch's own switch for the step is off. Nothing where it has none.
  std::optional<bool> confirmed_by_switch;
  std::string message; ///< "wrong after ConstantPropagation#2", or why no step was found
  std::string note;    ///< what else is known of the guilty step, in sentences
  std::vector<Check> checks;
  double seconds = 0;
};

struct BisectOptions {
  CheckOptions check;
  Limits limits;
  Signature wanted;
  SameFailure same_failure = SameFailure::Strict;
  Repetition repetition;
  std::function<bool()> interrupted; ///< polled; true ends it: throws Interrupted
  std::function<void(int done)> progress;
};

/// True if a backend has steps that can be left out, or a bisector of its own.
bool has_steps(const Backend &backend);

/// Finds the guilty step. The module of `factory` must fail under `backend`, which must have steps, as `options.wanted`
/// says. Each check runs in a sandbox. Throws Interrupted.
Bisection bisect(const ModuleFactory &factory, const std::shared_ptr<const Backend> &backend,
                 const BisectOptions &options);

/// Returns the bisection as JSON text, for scripts.
std::string to_json(const Bisection &bisection);

} // namespace repro_minify
