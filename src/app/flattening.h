// How much of a model can be flattened before its failure vanishes.
#pragma once
#include "app/session.h"
#include "program/record.h"

#include <memory>
#include <optional>
#include <string>

namespace repro_minify {

struct Flattened {
  Program program;
  Verdict verdict;
  std::string level;                    ///< what was done: "straight line" or "calls inlined"
  std::optional<std::string> hidden_by; ///< the step that would have made the failure vanish
  ProgramSize before;                   ///< of the model with its calls inlined
  /// Of `program`; null where it is not known.
  std::shared_ptr<const Recording> recording;
};

/// The most flattening that keeps the first failure of `original`, the model's own Verdict. Nothing when even inlining
/// loses it. Throws CannotFlatten.
std::optional<Flattened> flatten_model(Session &session, const Verdict &original);

} // namespace repro_minify
