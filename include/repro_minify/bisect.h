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

/// One check: with these steps of the backend, and no others.
struct BisectionCheck {
  std::string what;         ///< "the first 12 steps", "all but Autocast"
  std::optional<int> steps; ///< how many ran; nothing where the backend's own bisector says what to leave out
  bool fails = false;
  std::string message; ///< of the Verdict
};

struct Bisection {
  std::vector<std::string> steps; ///< the backend's, in order
  /// The first that makes it wrong: the steps before it, without it, give the right result. Nothing when there is none;
  /// then `message` says why. A part of a backend with a bisector of its own: "inductor/lowerings#4", its fourth
  /// application.
  std::optional<std::string> guilty;
  StepKind kind = StepKind::Pass; ///< of the guilty step
  std::string name; ///< of what that application is, as its library tells: "reinplace_inplaceable_ops"; may be empty
  /// Earlier steps that it takes: with these and the guilty one alone it is wrong, without any of them it is not.
  std::vector<std::string> needs;
  bool confirmed = false; ///< all steps but the guilty one: right
  /// Where that is not so: all steps but those that run the same pass, right. Nothing where there is no other.
  std::optional<bool> confirmed_each_time;
  /// Switched off by PyTorch's own switch for it: right. Nothing where it has none.
  std::optional<bool> confirmed_by_switch;
  std::string message; ///< "wrong after ConstantPropagation#2", or why no step was found
  std::string note;    ///< what is known of the guilty step beside that, in sentences
  std::vector<BisectionCheck> checks;
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

/// The module of `factory` fails under `backend`, which has steps, as `wanted` says. Each check is in a sandbox.
Bisection bisect(const ModuleFactory &factory, const std::shared_ptr<const Backend> &backend,
                 const BisectOptions &options);

/// Returns the bisection as JSON text, for scripts.
std::string to_json(const Bisection &bisection);

} // namespace repro_minify
